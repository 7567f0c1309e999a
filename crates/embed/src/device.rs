//! Device: the drive or array that a host embeds.

use crate::activity::Activity;
use crate::arrivals::Arrival;
use crate::counters::Counters;
use crate::error::Error;
use crate::journal::{self, Journal};
use crate::machine::{Machine, digest_with};
use crate::options::Options;
use crate::request::{Completion, OPS, Request, code_of_op};
use interpulse_array::array::Array;
use interpulse_drive::FtlState;
use interpulse_drive::{Drive, PreconditionedState};
use interpulse_engine::{AuditReport, Duration, Op, Request as DeviceRequest, SECTOR, SimTime, ZoneAction};
use interpulse_study::case;
use interpulse_study::config::Case;
use interpulse_study::initial_state::{SnapshotCache, load_or_build};
use interpulse_study::machine::memory_admission::admit;
use interpulse_study::run_target::RunTarget;
use serde_json::json;
use std::cell::RefCell;

/// Longest simulated time, 100 days: that of a run.
pub const LONGEST: Duration = Duration::from_ms(100 * 24 * 3_600_000);

/// Largest request that is not a trim: 1 GiB.
const LARGEST: u64 = 1 << 30;
/// Largest trim: as many sectors as a request can have.
const LARGEST_TRIM: u64 = u32::MAX as u64 * SECTOR.get();

/// One drive, or one array of drives.
pub(crate) enum Inner {
    Drive(Box<Machine<Drive>>),
    Array(Box<Machine<Array>>),
}

/// Evaluates an expression for the machine of either kind.
macro_rules! machine {
    ($inner:expr, $m:ident => $value:expr) => {
        match $inner {
            Inner::Drive($m) => $value,
            Inner::Array($m) => $value,
        }
    };
}

pub(crate) use machine;

/// A drive or array in simulated time, which its host advances.
///
/// Time begins at zero. Times are in ns, addresses and lengths in bytes.
pub struct Device {
    pub(crate) inner: Inner,
    pub(crate) case: Case,
    notes: Vec<String>,
    /// Number of the next request.
    next_tag: u64,
    /// Completions that the host has polled.
    polled: u64,
    /// All submissions, if the device can be saved.
    pub(crate) journal: Option<Vec<Arrival>>,
    pub(crate) finished: bool,
}

impl Device {
    /// Builds a device and its initial state.
    ///
    /// # Errors
    /// [`Error::Config`] if the configuration cannot be used, [`Error::Resources`] if memory is short or a kept state cannot be
    /// read.
    pub fn create(options: &Options) -> Result<Device, Error> {
        let case = options.case()?;
        admit(std::slice::from_ref(&case), 1).map_err(Error::Resources)?;
        let notes = RefCell::new(Vec::new());
        let cache = options.cache.as_deref();
        let cache = cache.map(|folder| SnapshotCache { folder, limit: options.cache_limit });
        let note = |line| notes.borrow_mut().push(line);
        let state = load_or_build(&case, &case.state_hash(), 1, cache.as_ref(), &|_, _, _, _| true, &note);
        let state = state.expect("nothing stops it").state();
        let mut state = state.map_err(|error| Error::Resources(error.to_string()))?;
        state.add_pe_cycles(case.precondition.cycles);
        Device::over(options, case, state, notes.into_inner())
    }

    /// A device of `case` that starts with `state`.
    pub(crate) fn over(
        options: &Options,
        case: Case,
        state: PreconditionedState,
        notes: Vec<String>,
    ) -> Result<Device, Error> {
        let inner = match case.array {
            None => {
                let drive = case::device_of_one(&case, &[], state);
                let machine = Machine::new(drive, case.drive.namespaces.len().max(1), options.causes);
                Inner::Drive(Box::new(machine.map_err(Error::Config)?))
            }
            Some(_) => {
                let array = case::device_of_several(&case, &[], state);
                Inner::Array(Box::new(Machine::new(array, 1, options.causes).map_err(Error::Config)?))
            }
        };
        let journal = options.journal.then(Vec::new);
        Ok(Device { inner, case, notes, next_tag: 0, polled: 0, journal, finished: false })
    }

    /// Whether [`Device::finish`] was called.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// The drive of a device without requests and flash operations, its configuration and the time; an error for an array.
    pub(crate) fn idle_drive(&self) -> Result<Option<(&Drive, &Case, SimTime)>, Error> {
        match &self.inner {
            Inner::Drive(machine) => {
                Ok(machine.is_idle().then_some((&machine.device, &self.case, machine.now())))
            }
            Inner::Array(_) => Err(Error::State("only the state of a single drive can be kept".into())),
        }
    }

    /// Builds a device as [`Device::create`] does and repeats the submissions of a [saved](Device::save) one; takes as long as
    /// simulating them took.
    ///
    /// # Errors
    /// Those of [`Device::create`]; [`Error::State`] if `saved` is damaged, of another configuration, or of a version of
    /// interpulse that simulates otherwise.
    pub fn restore(options: &Options, saved: &[u8]) -> Result<Device, Error> {
        let case = options.case()?;
        let saved = journal::read(saved, &case.config_hash())?;
        let mut device = Device::create(&Options { journal: true, ..options.clone() })?;
        for (tag, arrival) in (0..).zip(&saved.submissions) {
            device.check_restored(tag, arrival)?;
            device.accept(*arrival);
        }
        device.next_tag = saved.submissions.len() as u64;
        machine!(&mut device.inner, m => m.advance(saved.now, false))?;
        let (count, polled) = (saved.completed.0 as usize, saved.polled as usize);
        // A device that was saved within an instant had not yet handled all of it, so there may be more.
        let digest = machine!(&device.inner, m => {
            let all = m.completions.len() >= count.max(polled);
            all.then(|| m.completions.iter().take(count).fold(0, digest_with))
        });
        if digest != Some(saved.completed.1) {
            let why =
                "the saved state does not fit: this version of interpulse simulates the requests otherwise";
            return Err(Error::State(why.into()));
        }
        machine!(&mut device.inner, m => drop(m.completions.drain(..polled)));
        device.polled = saved.polled;
        Ok(device)
    }

    /// An arrival of a file is one that this device can take.
    fn check_restored(&self, tag: u64, arrival: &Arrival) -> Result<(), Error> {
        let namespaces = machine!(&self.inner, m => &m.namespaces);
        let DeviceRequest { op, sector, sectors, handle } = arrival.request;
        let first = namespaces.get(arrival.namespace as usize).map_or(u64::MAX, |of| of.start);
        let offset = if op == Op::Flush { Some(0) } else { sector.checked_sub(first) };
        let request = Request {
            op,
            namespace: arrival.namespace.saturating_add(1),
            queue: arrival.queue,
            handle,
            offset: offset.and_then(|n| n.checked_mul(SECTOR.get())).unwrap_or(u64::MAX),
            bytes: u64::from(sectors) * SECTOR.get(),
            cookie: arrival.cookie,
        };
        match self.check(arrival.at, &request) {
            Ok(checked) if checked == arrival.request && tag == arrival.tag => Ok(()),
            Ok(_) => Err(Error::State("the saved state does not fit: a request contradicts itself".into())),
            Err(error) => Err(Error::State(format!("the saved state does not fit: {error}"))),
        }
    }

    /// State of the device with everything that is in flight, for [`Device::restore`].
    ///
    /// # Errors
    /// [`Error::State`] without [`Options::journal`], [`Error::Finished`] after [`Device::finish`].
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let Some(submissions) = &self.journal else {
            return Err(Error::State("only a device created with a journal can be saved".into()));
        };
        let config_hash = self.case.config_hash();
        let (now, waiting, digest) =
            machine!(&self.inner, m => (m.now(), m.completions.len() as u64, m.digest));
        let completed = (self.polled + waiting, digest);
        Ok(Journal { config_hash: &config_hash, now, polled: self.polled, completed, submissions }.bytes())
    }

    // ---- requests -------------------------------------------------------------------------------------

    /// Submits a request that arrives at `at`, now or later, and returns its number; numbers count from zero.
    ///
    /// Requests of one instant arrive in the order of their submission, after everything else of that instant.
    ///
    /// # Errors
    /// [`Error::Time`] if `at` is in the past or behind [`LONGEST`], [`Error::Request`] for an illegal request,
    /// [`Error::Finished`] after [`Device::finish`].
    #[inline]
    pub fn submit(&mut self, at: SimTime, request: &Request) -> Result<u64, Error> {
        let checked = self.check(at, request)?;
        Ok(self.take(at, request, checked))
    }

    /// Submits `count` requests, of which `request` gives the `k`-th with its instant, and returns the number of the first; all
    /// of them, or none if one is illegal.
    ///
    /// # Errors
    /// Those of [`Device::submit`]; the message names the request.
    pub fn submit_batch(
        &mut self,
        count: usize,
        mut request: impl FnMut(usize) -> Result<(SimTime, Request), Error>,
    ) -> Result<u64, Error> {
        let first = self.next_tag;
        for k in 0..count {
            request(k).and_then(|(at, request)| self.check(at, &request)).map_err(|error| match error {
                Error::Request(why) if count > 1 => {
                    Error::Request(format!("request {k} of the batch: {why}"))
                }
                Error::Time(why) if count > 1 => Error::Time(format!("request {k} of the batch: {why}")),
                other => other,
            })?;
        }
        machine!(&mut self.inner, m => m.arrivals.reserve(count));
        for k in 0..count {
            let (at, request) = request(k)?;
            let checked = self.check(at, &request)?;
            self.take(at, &request, checked);
        }
        Ok(first)
    }

    /// Gives a checked request its number.
    #[inline]
    fn take(&mut self, at: SimTime, request: &Request, checked: DeviceRequest) -> u64 {
        let tag = self.next_tag;
        self.next_tag += 1;
        let (cookie, queue, namespace) = (request.cookie, request.queue, request.namespace - 1);
        self.accept(Arrival { at, tag, cookie, request: checked, queue, namespace });
        tag
    }

    #[inline]
    fn accept(&mut self, arrival: Arrival) {
        if let Some(journal) = &mut self.journal {
            journal.push(arrival);
        }
        machine!(&mut self.inner, m => m.arrivals.push(arrival));
    }

    /// The request in sectors of the device, if it is legal.
    #[inline]
    fn check(&self, at: SimTime, request: &Request) -> Result<DeviceRequest, Error> {
        let (now, namespaces) = machine!(&self.inner, m => (m.now(), &m.namespaces));
        let &Request { op, namespace, queue, handle, offset, bytes, .. } = request;
        let largest = if op == Op::Trim { LARGEST_TRIM } else { LARGEST };
        let of = namespaces.get((namespace as usize).wrapping_sub(1));
        let moves = !matches!(op, Op::Flush | Op::Zone(_)) || op == Op::Zone(ZoneAction::Report);
        let legal = !self.finished
            && at >= now
            && at.0 <= LONGEST.0
            && (offset | bytes) % SECTOR.get() == 0
            && bytes <= largest
            && (bytes > 0) == moves
            && (op != Op::Flush || offset == 0)
            && (queue as usize) < self.case.drive.host.queue_weights.len()
            && (handle == 0 || u32::from(handle) < self.case.drive.ftl.placement.classes())
            && (self.case.array.is_none() || matches!(op, Op::Read | Op::Write | Op::Flush))
            && of.is_some_and(|of| {
                let capacity = (of.end - of.start) * SECTOR.get();
                // The buffer of a report is no range of addresses.
                let length = if op == Op::Zone(ZoneAction::Report) { 0 } else { bytes };
                offset < capacity && length <= capacity - offset
            });
        let Some(of) = of.filter(|_| legal) else { return Err(self.why_illegal(at, request)) };
        let sector = of.start + offset / SECTOR.get();
        Ok(DeviceRequest { op, sector, sectors: (bytes / SECTOR.get()) as u32, handle })
    }

    /// What is wrong with a request.
    #[cold]
    fn why_illegal(&self, at: SimTime, request: &Request) -> Error {
        let now = self.now();
        let &Request { op, namespace, queue, handle, offset, bytes, .. } = request;
        if self.finished {
            return Error::Finished;
        }
        if at < now {
            return Error::Time(format!("at = {} ns is in the past: it is {} ns", at.0, now.0));
        }
        if at.0 > LONGEST.0 {
            return Error::Time(format!(
                "at = {} ns lies behind the longest time, {} ns (100 days)",
                at.0, LONGEST.0
            ));
        }
        let (name, _) = OPS[code_of_op(op) as usize];
        if self.case.array.is_some() && !matches!(op, Op::Read | Op::Write | Op::Flush) {
            return Error::Request(format!("op = {name}: legal for an array: read, write, flush"));
        }
        let count = self.namespaces();
        if !(1..=count).contains(&namespace) {
            return Error::Request(format!("namespace = {namespace}: legal: 1 to {count}"));
        }
        let queues = self.case.drive.host.queue_weights.len();
        if queue as usize >= queues {
            return Error::Request(format!(
                "queue = {queue}: legal: 0 to {} (host.queue-weights)",
                queues - 1
            ));
        }
        let handles = self.case.drive.ftl.placement.classes();
        if handle > 0 && u32::from(handle) >= handles {
            let legal = handles.saturating_sub(1);
            return Error::Request(format!("handle = {handle}: legal: 0 to {legal} (ftl.placement)"));
        }
        if (offset | bytes) % SECTOR.get() != 0 {
            let why = format!("offset = {offset}, bytes = {bytes}: legal: multiples of 512");
            return Error::Request(why);
        }
        let moves = !matches!(op, Op::Flush | Op::Zone(_)) || op == Op::Zone(ZoneAction::Report);
        if !moves {
            let and = if op == Op::Flush { "offset = 0 and bytes = 0" } else { "bytes = 0" };
            return Error::Request(format!("offset = {offset}, bytes = {bytes}: legal of {name}: {and}"))
                .or_capacity(bytes == 0 && (op != Op::Flush || offset == 0), || self.beyond(request));
        }
        let largest = if op == Op::Trim { LARGEST_TRIM } else { LARGEST };
        if bytes == 0 || bytes > largest {
            return Error::Request(format!("bytes = {bytes}: legal of {name}: 512 to {largest}"));
        }
        self.beyond(request)
    }

    fn beyond(&self, request: &Request) -> Error {
        let &Request { namespace, offset, bytes, .. } = request;
        let capacity = self.capacity(namespace).unwrap_or(0);
        Error::Request(format!(
            "offset = {offset}, bytes = {bytes}: ends behind the {capacity} bytes of namespace {namespace}"
        ))
    }

    // ---- time -----------------------------------------------------------------------------------------

    /// Simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        machine!(&self.inner, m => m.now())
    }

    /// The next instant at which something happens; completions can appear only at such instants. `None` if nothing will happen
    /// until a request is submitted. After [`Device::advance_to`] it lies in the future.
    #[inline]
    pub fn next_event_time(&self) -> Option<SimTime> {
        machine!(&self.inner, m => m.next_event_time())
    }

    /// Handles everything up to and including `to` and moves simulated time there.
    ///
    /// # Errors
    /// [`Error::Time`] if `to` is in the past or behind [`LONGEST`], [`Error::Finished`] after [`Device::finish`], [`Error::Bug`]
    /// for requests that can never complete.
    #[inline]
    pub fn advance_to(&mut self, to: SimTime) -> Result<(), Error> {
        self.check_limit(to)?;
        machine!(&mut self.inner, m => m.advance(to, false))
    }

    /// Handles everything up to the first instant with a completion, at the latest `limit`, and moves simulated time there.
    /// Returns whether a completion can be polled; at once if one can be already. Without a limit, false means that no request
    /// is pending.
    ///
    /// # Errors
    /// Those of [`Device::advance_to`].
    pub fn advance_to_completion(&mut self, limit: Option<SimTime>) -> Result<bool, Error> {
        let Some(limit) = limit else {
            return machine!(&mut self.inner, m => m.advance_to_any_completion());
        };
        self.check_limit(limit)?;
        machine!(&mut self.inner, m => m.advance(limit, true).map(|()| !m.completions.is_empty()))
    }

    #[inline]
    fn check_limit(&self, to: SimTime) -> Result<(), Error> {
        let now = self.now();
        if to >= now && to.0 <= LONGEST.0 && !self.finished {
            return Ok(());
        }
        if self.finished {
            return Err(Error::Finished);
        }
        let why = match to < now {
            true => format!("simulated time cannot go back to {} ns: it is {} ns", to.0, now.0),
            false => format!("{} ns lie behind the longest time, {} ns (100 days)", to.0, LONGEST.0),
        };
        Err(Error::Time(why))
    }

    // ---- completions ----------------------------------------------------------------------------------

    /// Requests submitted and not completed.
    #[inline]
    pub fn pending(&self) -> usize {
        machine!(&self.inner, m => m.pending())
    }

    /// Completions that can be polled.
    #[inline]
    pub fn completions(&self) -> usize {
        machine!(&self.inner, m => m.completions.len())
    }

    /// Takes the oldest completion.
    #[inline]
    pub fn pop(&mut self) -> Option<Completion> {
        let taken = machine!(&mut self.inner, m => m.completions.pop_front());
        self.polled += u64::from(taken.is_some());
        taken
    }

    /// Takes at most `most` completions in order, and passes each to `take`. Returns their number.
    #[inline]
    pub fn poll(&mut self, most: usize, mut take: impl FnMut(usize, &Completion)) -> usize {
        let taken = machine!(&mut self.inner, m => {
            let count = most.min(m.completions.len());
            m.completions.iter().take(count).enumerate().for_each(|(k, completion)| take(k, completion));
            m.completions.drain(..count);
            count
        });
        self.polled += taken as u64;
        taken
    }

    // ---- the device -----------------------------------------------------------------------------------

    /// Number of namespaces; 1 without namespaces.
    pub fn namespaces(&self) -> u32 {
        machine!(&self.inner, m => m.namespaces.len() as u32)
    }

    /// Bytes of a namespace, counted from 1; `None` if the device has no such namespace.
    pub fn capacity(&self, namespace: u32) -> Option<u64> {
        let of = machine!(&self.inner, m => m.namespaces.get((namespace as usize).wrapping_sub(1)))?;
        Some((of.end - of.start) * SECTOR.get())
    }

    /// Notes about the initial state, such as that preconditioning did not become steady.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Description as a JSON object: `device` (`drive` or `array`), `drives`, `namespaces` (bytes of each), `queues`,
    /// `handles`, `groups`, `config_hash`, `version` and `notes`.
    pub fn describe(&self) -> String {
        let capacities: Vec<u64> = (1..=self.namespaces()).filter_map(|k| self.capacity(k)).collect();
        json!({
            "device": if self.case.array.is_some() { "array" } else { "drive" },
            "drives": self.case.drives(),
            "namespaces": capacities,
            "queues": self.case.drive.host.queue_weights.len(),
            "handles": self.case.drive.ftl.placement.handles(),
            "groups": self.case.drive.ftl.placement.groups(),
            "config_hash": self.case.config_hash(),
            "version": env!("CARGO_PKG_VERSION"),
            "notes": self.notes,
        })
        .to_string()
    }

    /// Counters since creation.
    pub fn counters(&mut self) -> Counters {
        machine!(&mut self.inner, m => Counters::read(m))
    }

    /// What the drives do at this instant.
    pub fn activity(&self) -> Activity {
        machine!(&self.inner, m => Activity::of(m.device.drives()))
    }

    /// Completes all requests and the device's own work, which may move simulated time, and audits the device: nothing issued,
    /// written or mapped is lost. Completions and counters can still be read.
    ///
    /// # Errors
    /// [`Error::Finished`] if called again; [`Error::Bug`] if an audit does not hold.
    pub fn finish(&mut self) -> Result<AuditReport, Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        self.finished = true;
        machine!(&mut self.inner, m => m.finish())
    }
}

impl Error {
    /// The other error if `other` holds.
    fn or_capacity(self, other: bool, error: impl FnOnce() -> Error) -> Error {
        if other { error() } else { self }
    }
}

const _: fn() = || {
    fn moves_between_threads<T: Send>() {}
    moves_between_threads::<Device>();
};
