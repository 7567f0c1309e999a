//! Machine: a device with its event queue, advanced to an instant at a time.
//!
//! Events of an instant come before its arrivals, and each arrival is followed by the events that it causes at that instant.
//! Therefore it makes no difference whether the host submits an arrival before or after it advances to its instant.

use crate::arrivals::{Arrival, Arrivals};
use crate::error::Error;
use crate::request::{Completion, StatusCode, code_of_op};
use crate::unit_change::UnitChange;
use interpulse_array::array::{Array, ArrayCounters};
use interpulse_drive::Drive;
use interpulse_engine::account::NO_ACCOUNT;
use interpulse_engine::random::mix;
use interpulse_engine::{
    AuditReport, DeviceEvent, EventQueue, Op, OpClass, PrefetchDistance, ResourceId, SECTOR, SimTime, Slab,
    Status, Tag,
};
use interpulse_host::HostCounters;
use interpulse_study::run::power;
use interpulse_study::run_target::RunTarget;
use std::collections::VecDeque;
use std::ops::Range;

/// Map entries that the final audit confirms.
const CONFIRMED_UNITS: usize = 4 << 20;

/// How far ahead of their submission arrivals are hinted.
const AHEAD: [(usize, PrefetchDistance); 2] = [(16, PrefetchDistance::Far), (4, PrefetchDistance::Near)];

/// A device that can be embedded.
pub trait Simulated: RunTarget {
    /// Whether power is off, or the device recovers.
    fn is_down(&self) -> bool;
    /// Cuts power now, for as long as the configuration says; false if the device cannot be cut at this instant.
    fn cut(&mut self, events: &mut EventQueue) -> bool;
    /// Counters of an array since the start.
    fn array_counters(&mut self) -> Option<ArrayCounters>;
}

impl Simulated for Drive {
    fn is_down(&self) -> bool {
        Drive::is_down(self)
    }
    fn cut(&mut self, events: &mut EventQueue) -> bool {
        let Some(spec) = self.spec().power_loss.filter(|_| !Drive::is_down(self)) else { return false };
        self.cut_power(events);
        self.power_up(events, events.now() + spec.off_for);
        true
    }
    fn array_counters(&mut self) -> Option<ArrayCounters> {
        None
    }
}

impl Simulated for Array {
    fn is_down(&self) -> bool {
        Array::is_down(self)
    }
    fn cut(&mut self, events: &mut EventQueue) -> bool {
        self.cut_power(events)
    }
    fn array_counters(&mut self) -> Option<ArrayCounters> {
        // The only window begins with the run.
        interpulse_engine::Device::end_window(self);
        Some(*self.measured())
    }
}

/// What is kept of a request between its submission to the device and its completion.
#[derive(Clone, Copy)]
pub(crate) struct Outstanding {
    tag: u64,
    pub cookie: u64,
    op: Op,
    submitted: SimTime,
    namespace: u32,
}

/// Digest of completions with one more.
#[inline]
pub fn digest_with(before: u64, completion: &Completion) -> u64 {
    let at = completion.completed.as_ns() ^ completion.tag.rotate_left(40);
    let how = u64::from(completion.status.0) << 8 | u64::from(code_of_op(completion.op));
    mix(before ^ at).wrapping_add(how)
}

/// A device with its event queue.
pub struct Machine<D> {
    pub device: D,
    events: EventQueue,
    pub arrivals: Arrivals,
    pub(crate) outstanding: Slab<Tag, Outstanding>,
    /// Completions that the host has not polled.
    pub completions: VecDeque<Completion>,
    /// Sectors of each namespace.
    pub namespaces: Vec<Range<u64>>,
    /// Digest of all completions.
    pub digest: u64,
    pub counters: HostCounters,
    causes: bool,
    /// Whether power may be lost, and whether it is lost now.
    loses_power: bool,
    down: bool,
    /// Changes of units that the host has not taken, if it follows them.
    pub units: Option<Vec<UnitChange>>,
}

impl<D: Simulated> Machine<D> {
    /// Starts `device`, which has no timers of a host. The error says why it cannot run.
    pub fn new(mut device: D, namespaces: usize, causes: bool) -> Result<Machine<D>, String> {
        let mut events = EventQueue::new(device.resources().end);
        device.start(&mut events)?;
        device.begin_window();
        let namespaces = (0..namespaces as u32).map(|k| device.namespace_sectors(k)).collect();
        let loses_power = device.drives()[0].spec().power_loss.is_some();
        let mut machine = Machine {
            device,
            events,
            arrivals: Arrivals::default(),
            outstanding: Slab::default(),
            completions: VecDeque::new(),
            namespaces,
            digest: 0,
            counters: HostCounters::default(),
            causes,
            loses_power,
            down: false,
            units: None,
        };
        if machine.device.has_event() {
            machine.settle();
        }
        Ok(machine)
    }

    /// Simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// The next instant at which something happens in the device, or a request arrives.
    #[inline]
    pub fn next_event_time(&self) -> Option<SimTime> {
        let event = self.events.peek().map(|(at, _)| at);
        let arrival = if self.down { None } else { self.arrivals.first_at() };
        match (event, arrival.map(|at| at.max(self.now()))) {
            (Some(event), Some(arrival)) => Some(event.min(arrival)),
            (event, arrival) => event.or(arrival),
        }
    }

    /// Requests that have not completed.
    #[inline]
    pub fn pending(&self) -> usize {
        self.arrivals.len() + self.outstanding.live()
    }

    /// Whether power is off, or the device recovers.
    pub fn is_down(&self) -> bool {
        self.device.is_down()
    }

    /// Whether power is on, no request is pending, and the flash array of the first drive has no operations.
    pub fn is_idle(&self) -> bool {
        !self.is_down() && self.pending() == 0 && self.device.drives()[0].operations(&self.events) == 0
    }

    /// Handles everything up to and including `limit`, or with `at_completion` until a completion can be polled, and moves
    /// simulated time there. The error describes a deadlock.
    pub fn advance(&mut self, limit: SimTime, at_completion: bool) -> Result<(), Error> {
        loop {
            if at_completion && !self.completions.is_empty() {
                return Ok(());
            }
            let arrival = if self.down { None } else { self.arrivals.first_at() };
            let arrival = arrival.map(|at| at.max(self.events.now()));
            let bound = arrival.map_or(limit, |at| at.min(limit));
            if let Some((_, resource)) = self.events.next(bound) {
                self.handle(resource);
            } else if arrival.is_some_and(|at| at <= limit) {
                self.events.advance_to(bound);
                self.submit_next();
            } else {
                break;
            }
        }
        self.events.advance_to(limit);
        self.check_progress()
    }

    /// Handles everything until a completion can be polled; false if no request is pending.
    pub fn advance_to_any_completion(&mut self) -> Result<bool, Error> {
        while self.completions.is_empty() {
            let Some(next) = self.next_event_time().filter(|_| self.pending() > 0) else {
                self.check_progress()?;
                return Ok(false);
            };
            self.advance(next, true)?;
        }
        Ok(true)
    }

    #[inline]
    fn check_progress(&self) -> Result<(), Error> {
        if self.outstanding.live() > 0 && self.events.peek().is_none() {
            return Err(Error::Bug(self.device.diagnosis(&self.events)));
        }
        Ok(())
    }

    #[inline(always)]
    fn handle(&mut self, resource: ResourceId) {
        let timer_of_host = self.device.handle(&mut self.events, resource);
        debug_assert!(timer_of_host.is_none(), "the device has no timers of its host");
        if self.loses_power && !self.down && self.device.is_down() {
            self.lose_power();
        }
        if self.device.has_event() {
            self.settle();
        }
        self.events.settle();
    }

    /// Submits the first arrival now.
    #[inline]
    fn submit_next(&mut self) {
        let now = self.events.now();
        let Some(Arrival { tag, cookie, request, queue, namespace, .. }) = self.arrivals.pop() else {
            return;
        };
        for (ahead, distance) in AHEAD {
            if let Some(coming) = self.arrivals.coming(ahead) {
                self.device.hint(coming, distance);
            }
        }
        let of = Outstanding { tag, cookie, op: request.op, submitted: now, namespace };
        let key = self.outstanding.insert(of);
        self.device.submit(&mut self.events, queue, key, request);
        if D::BATCHES || self.device.has_event() {
            self.settle();
        }
    }

    /// Polls the device and runs its internal work of this instant.
    fn settle(&mut self) {
        loop {
            self.drain();
            if D::BATCHES && self.device.advance(&mut self.events) {
                continue;
            }
            if !D::BATCHES || !self.device.background(&mut self.events) {
                break;
            }
        }
        if D::BATCHES && self.device.flush(&mut self.events) {
            self.drain();
        }
    }

    /// Takes the events of the device.
    #[inline(always)]
    fn drain(&mut self) {
        if self.units.is_some() {
            self.poll_units();
        }
        while let Some(event) = self.device.event() {
            let DeviceEvent::Completed(of) = event else {
                let restored = matches!(event, DeviceEvent::PowerRestored);
                self.device.pop_event();
                if restored {
                    self.down = false;
                } else {
                    // Requests are known by their tags.
                    self.device.entered();
                }
                continue;
            };
            let key = of.tag;
            let Outstanding { tag, cookie, op, submitted, namespace } = *self.outstanding.get(key);
            let first = self.namespaces[namespace as usize].start;
            let causes = of.account.filter(|_| self.causes).copied().unwrap_or(NO_ACCOUNT);
            let completion = Completion {
                tag,
                cookie,
                op,
                status: of.status.into(),
                submitted,
                completed: self.events.now(),
                bytes: of.bytes,
                placed: of
                    .placed
                    .filter(|_| of.status == Status::Success)
                    .map(|sector| (sector - first) * SECTOR.get()),
                causes,
            };
            self.device.pop_event();
            self.outstanding.remove(key);
            match op.class() {
                OpClass::Read => self.counters.read_bytes += completion.bytes,
                OpClass::Write => self.counters.written_bytes += completion.bytes,
                OpClass::Other => {}
            }
            self.counters.requests += 1;
            self.complete(completion);
        }
    }

    #[inline(always)]
    fn complete(&mut self, completion: Completion) {
        self.digest = digest_with(self.digest, &completion);
        self.completions.push_back(completion);
    }

    /// Cuts power now; false if the device cannot be cut at this instant.
    pub fn cut_power(&mut self) -> bool {
        let is_cut = self.device.cut(&mut self.events);
        if is_cut {
            self.lose_power();
        }
        is_cut
    }

    /// Completes every outstanding request, which the device has dropped, with an error.
    #[cold]
    fn lose_power(&mut self) {
        self.poll_units();
        self.down = true;
        let mut dropped: Vec<(u64, Tag)> = self.outstanding.iter().map(|(key, of)| (of.tag, key)).collect();
        dropped.sort_unstable();
        for (_, key) in dropped {
            let Outstanding { tag, cookie, op, submitted, .. } = self.outstanding.remove(key);
            self.complete(Completion {
                tag,
                cookie,
                op,
                status: StatusCode::ABORTED_BY_POWER_LOSS,
                submitted,
                completed: self.events.now(),
                bytes: 0,
                placed: None,
                causes: NO_ACCOUNT,
            });
        }
    }

    /// Completes all requests, then the device's own work, and audits the device.
    pub fn finish(&mut self) -> Result<AuditReport, Error> {
        while let Some(next) = self.next_event_time().filter(|_| self.pending() > 0 || self.down) {
            self.advance(next, false)?;
        }
        self.check_progress()?;
        self.device.close();
        while self.device.outstanding() > 0 {
            let Some((next, _)) = self.events.peek() else {
                return Err(Error::Bug(self.device.diagnosis(&self.events)));
            };
            self.advance(next, false)?;
        }
        let now = self.events.now();
        let entries: usize = self.device.drives().iter().map(|drive| drive.logical_units() as usize).sum();
        let failed = |why| Error::Bug(format!("an audit does not hold: {why}"));
        let audit = self.device.audit(now, entries.div_ceil(CONFIRMED_UNITS)).map_err(failed)?;
        for drive in self.device.drives_mut() {
            let part = drive.spec().part.power.clone();
            power::audit_meter(drive.nand_mut(), &part, now).map_err(failed)?;
        }
        Ok(audit)
    }
}
