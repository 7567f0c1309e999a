//! Submission of requests to a device, and what is wrong with an illegal one.

use crate::arrivals::Arrival;
use crate::device::{Device, Inner, LONGEST, machine};
use crate::error::Error;
use crate::request::{OPS, Request, code_of_op};
use interpulse_engine::{Op, Request as DeviceRequest, SECTOR, SimTime, ZoneAction};

/// Largest request that is not a trim: 1 GiB.
const LARGEST: u64 = 1 << 30;
/// Largest trim: as many sectors as a request can have.
const LARGEST_TRIM: u64 = u32::MAX as u64 * SECTOR.get();

impl Device {
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
    pub(crate) fn accept(&mut self, arrival: Arrival) {
        if let Some(journal) = &mut self.journal {
            journal.push(arrival);
        }
        machine!(&mut self.inner, m => m.arrivals.push(arrival));
    }

    /// The request in sectors of the device, if it is legal.
    #[inline]
    pub(crate) fn check(&self, at: SimTime, request: &Request) -> Result<DeviceRequest, Error> {
        let (now, namespaces) = machine!(&self.inner, m => (m.now(), &m.namespaces));
        let &Request { op, namespace, queue, handle, offset, bytes, .. } = request;
        let largest = if op == Op::Trim { LARGEST_TRIM } else { LARGEST };
        let of = namespaces.get((namespace as usize).wrapping_sub(1));
        let moves = !matches!(op, Op::Flush | Op::Zone(_)) || op == Op::Zone(ZoneAction::Report);
        let legal = !self.finished
            && !matches!(op, Op::Vector(_))
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
        if matches!(op, Op::Vector(_)) {
            return Error::Request(
                "op: a vector command has a list of addresses; legal: operations with one".into(),
            );
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
}

impl Error {
    /// The other error if `other` holds.
    fn or_capacity(self, other: bool, error: impl FnOnce() -> Error) -> Error {
        if other { error() } else { self }
    }
}
