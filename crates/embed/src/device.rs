//! Device: the drive or array that a host embeds.

use crate::activity::Activity;
use crate::arrivals::Arrival;
use crate::counters::Counters;
use crate::error::Error;
use crate::machine::Machine;
use crate::options::Options;
use crate::request::Completion;
use interpulse_array::array::Array;
use interpulse_drive::FtlState;
use interpulse_drive::{Drive, PreconditionedState};
use interpulse_engine::{AuditReport, Duration, SECTOR, SimTime};
use interpulse_study::case;
use interpulse_study::config::Case;
use interpulse_study::initial_state::{SnapshotCache, load_or_build};
use interpulse_study::machine::memory_admission::admit;
use interpulse_study::run_target::RunTarget;
use serde_json::json;
use std::cell::RefCell;

/// Longest simulated time, 100 days: that of a run.
pub const LONGEST: Duration = Duration::from_ms(100 * 24 * 3_600_000);

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
    pub(crate) next_tag: u64,
    /// Completions that the host has polled.
    pub(crate) polled: u64,
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
        state.add_pe_cycles(case.precondition.equal_cycles());
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

const _: fn() = || {
    fn moves_between_threads<T: Send>() {}
    moves_between_threads::<Device>();
};
