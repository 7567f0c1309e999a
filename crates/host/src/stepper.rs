//! Takes a device and its host through a run, event by event: opens it, steps it, closes it.

use crate::clock::{Clock, FreeRunning};
use crate::host::Host;
use crate::observe::Observer;
use interpulse_engine::{Agenda, Device, Duration, Request, SimTime, Tag};

/// Events between two questions whether to go on.
const CHUNK: u64 = 1 << 16;

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something of the user's, such as a trace that became unreadable.
    User(String),
    /// A bug: requests are outstanding, and nothing is going to happen.
    Stuck(String),
}

/// Where a run has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Nothing more happens up to the limit.
    Limit,
    /// So many requests have completed.
    Target,
    /// All requests have been made, and all have completed.
    Done,
    /// Nobody wanted it to go on.
    Stopped,
}

/// A run: a host with its device, the agenda of both, and the clock that they follow.
pub struct Stepper<D, O = (), C = FreeRunning> {
    /// The host.
    pub host: Host<D, O>,
    /// What is going to happen.
    pub agenda: Agenda,
    /// What simulated time is tied to.
    pub clock: C,
}

impl<D: Device, O: Observer, C: Clock> Stepper<D, O, C> {
    /// A run that has not been opened yet, for a device whose resources are the first on the agenda.
    pub fn new(host: Host<D, O>, clock: C) -> Stepper<D, O, C> {
        let agenda = Agenda::new(host.device.resources().end);
        Stepper { host, agenda, clock }
    }

    /// Starts device and flows.
    pub fn open(&mut self) -> Result<(), Failure> {
        self.host.start(&mut self.agenda).map_err(Failure::User)
    }

    /// The instant of the next event.
    pub fn next_at(&self) -> Option<SimTime> {
        self.agenda.peek().map(|(at, _)| at)
    }

    /// Handles the next event, if there is one up to and including `limit`. `Some(true)` if anything may have ended with
    /// it.
    #[inline(always)]
    fn step(&mut self, limit: SimTime) -> Option<bool> {
        let (at, resource) = self.agenda.next(limit)?;
        let lag = self.clock.synchronize(at);
        if lag > Duration::ZERO {
            self.host.observer.fell_behind(at, lag);
        }
        let looked = self.host.handle(&mut self.agenda, resource);
        self.agenda.settle();
        Some(looked)
    }

    /// Handles events up to and including `limit`, until `target` requests have completed since the start, until nothing
    /// is left to do, or until `go_on`, which is asked every 64 Ki events, says no.
    pub fn run(
        &mut self,
        limit: SimTime,
        target: u64,
        go_on: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<Pause, Failure> {
        let mut pause = self.reached(target);
        loop {
            let mut left = CHUNK;
            while pause.is_none() && left > 0 {
                left -= 1;
                match self.step(limit) {
                    Some(false) => {}
                    Some(true) => pause = self.reached(target),
                    None => pause = Some(Pause::Limit),
                }
            }
            if let Some(failure) = self.host.failure() {
                return Err(Failure::User(failure.to_string()));
            }
            if let Some(pause) = pause {
                if self.agenda.peek().is_none() && self.host.device.outstanding() > 0 {
                    return Err(Failure::Stuck(self.host.device.diagnosis(&self.agenda)));
                }
                return Ok(pause);
            }
            if !go_on(self) {
                return Ok(Pause::Stopped);
            }
        }
    }

    #[inline]
    fn reached(&self, target: u64) -> Option<Pause> {
        if self.host.device.completed() >= target {
            Some(Pause::Target)
        } else {
            self.host.is_done().then_some(Pause::Done)
        }
    }

    /// Handles all events up to and including `at` and moves simulated time there.
    pub fn run_until(&mut self, at: SimTime) -> Result<(), Failure> {
        while self.step(at).is_some() {}
        self.agenda.advance_to(at);
        self.host.failure().map_or(Ok(()), |why| Err(Failure::User(why.to_string())))
    }

    /// Submits a request that is none of a flow now, see [`Host::submit`].
    pub fn submit(&mut self, queue: u32, tag: Tag, request: Request) {
        self.host.submit(&mut self.agenda, queue, tag, request);
    }

    /// Makes no more requests and lets those outstanding complete.
    pub fn close(&mut self) -> Result<(), Failure> {
        self.host.close();
        let horizon = self.agenda.horizon();
        self.run(horizon, u64::MAX, &mut |_| true).map(drop)
    }
}
