//! Stepper: opens a run of a host and its device, handles its timers in order, and closes it.

use crate::clock::{Clock, FreeRunning, Synchronized};
use crate::host::Host;
use crate::observe::Observer;
use interpulse_engine::{Device, Duration, EventQueue, Request, SimTime, Tag};

/// Timers between two calls of `keep_running`.
const CHUNK: u64 = 1 << 16;

/// Timers without a completion, beside outstanding requests, after which a run ends: seconds of CPU time.
pub const MOST_TIMERS_WITHOUT_COMPLETION: u64 = 256 * CHUNK;

/// Why a run cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A problem of the user's input, such as a trace that became unreadable.
    User(String),
    /// A bug: requests are outstanding, and no timer is armed.
    Stuck(String),
    /// The device works without end, and completes none of the outstanding requests.
    NoCompletion {
        /// Number of outstanding requests.
        outstanding: usize,
        /// Simulated time since a request completed.
        since: Duration,
    },
}

/// Last completion that was seen.
#[derive(Default)]
struct LastCompletion {
    completed: u64,
    at: SimTime,
    /// Timers since then.
    timers: u64,
}

/// Why a run has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// No timer is left up to the limit.
    Limit,
    /// The target of completed requests is reached.
    Target,
    /// All requests have been generated and completed.
    Done,
    /// `keep_running` returned false.
    Stopped,
    /// An arrival woke the clock: simulated time is the instant of the arrival, and a request can be submitted.
    Woken,
}

/// A run: a host with its device, their event queue and their clock.
pub struct Stepper<D, O = (), C = FreeRunning> {
    /// The host.
    pub host: Host<D, O>,
    /// Timers of the host and its device.
    pub events: EventQueue,
    /// The clock that simulated time is synchronised with.
    pub clock: C,
    last: LastCompletion,
}

impl<D: Device, O: Observer, C: Clock> Stepper<D, O, C> {
    /// A run that has not been opened yet.
    pub fn new(host: Host<D, O>, clock: C) -> Stepper<D, O, C> {
        let events = EventQueue::new(host.device.resources().end);
        Stepper { host, events, clock, last: LastCompletion::default() }
    }

    /// Starts device and flows.
    pub fn open(&mut self) -> Result<(), Failure> {
        self.host.start(&mut self.events).map_err(Failure::User)
    }

    /// The instant of the next timer.
    pub fn next_at(&self) -> Option<SimTime> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Handles the next timer up to and including `limit`; true if requests may have completed. `None` if no timer is left.
    #[inline(always)]
    fn step(&mut self, limit: SimTime) -> Option<bool> {
        let (_, resource) = self.events.next(limit)?;
        let polled = self.host.handle(&mut self.events, resource);
        self.events.settle();
        Some(polled)
    }

    /// Waits for the instant of the next timer, or for `limit` if that is earlier. If an arrival interrupts the wait,
    /// advances simulated time to it and returns true.
    fn is_woken(&mut self, limit: SimTime) -> bool {
        let next = self.next_at();
        if next.is_none() && self.host.device.outstanding() > 0 {
            // A bug that no arrival mends.
            return false;
        }
        match self.clock.synchronize(next.map_or(limit, |at| at.min(limit))) {
            Synchronized::OnTime => false,
            Synchronized::Late(lag) => {
                if let Some(at) = next.filter(|&at| at <= limit) {
                    self.host.observer.fell_behind(at, lag);
                }
                false
            }
            Synchronized::Woken(at) => {
                // `run_until` may have moved simulated time ahead of the clock.
                self.events.advance_to(at.max(self.events.now()));
                true
            }
        }
    }

    /// Handles timers up to and including `limit`, until `target` requests have completed since the start, all requests
    /// have completed, an arrival wakes the clock, or `keep_running`, called every 64 Ki timers, returns false. Fails if the
    /// device completes nothing for [`MOST_TIMERS_WITHOUT_COMPLETION`].
    pub fn run(
        &mut self,
        limit: SimTime,
        target: u64,
        keep_running: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<Pause, Failure> {
        let mut pause = self.reached(target);
        loop {
            let mut left = CHUNK;
            while pause.is_none() && left > 0 {
                left -= 1;
                if C::WAITS && self.is_woken(limit) {
                    pause = Some(Pause::Woken);
                    break;
                }
                match self.step(limit) {
                    Some(false) => {}
                    Some(true) => pause = self.reached(target),
                    None => pause = Some(Pause::Limit),
                }
            }
            if let Some(failure) = self.host.failure() {
                return Err(Failure::User(failure.to_string()));
            }
            self.expect_completions(CHUNK - left)?;
            if let Some(pause) = pause {
                if self.events.peek().is_none() && self.host.device.outstanding() > 0 {
                    return Err(Failure::Stuck(self.host.device.diagnosis(&self.events)));
                }
                return Ok(pause);
            }
            if !keep_running(self) {
                return Ok(Pause::Stopped);
            }
        }
    }

    /// Fails if no outstanding request has completed for [`MOST_TIMERS_WITHOUT_COMPLETION`], after `timers` more.
    fn expect_completions(&mut self, timers: u64) -> Result<(), Failure> {
        let (now, device) = (self.events.now(), &self.host.device);
        let (completed, outstanding) = (device.completed(), device.outstanding());
        if completed != self.last.completed || outstanding == 0 {
            self.last = LastCompletion { completed, at: now, timers: 0 };
        }
        self.last.timers += timers;
        if self.last.timers < MOST_TIMERS_WITHOUT_COMPLETION {
            return Ok(());
        }
        Err(Failure::NoCompletion { outstanding, since: now.since(self.last.at) })
    }

    #[inline]
    fn reached(&self, target: u64) -> Option<Pause> {
        if self.host.device.completed() >= target {
            Some(Pause::Target)
        } else {
            self.host.is_done().then_some(Pause::Done)
        }
    }

    /// Handles all timers up to and including `at` and moves simulated time to `at` ([`Pause::Limit`]), unless an arrival
    /// wakes the clock before ([`Pause::Woken`]).
    pub fn run_until(&mut self, at: SimTime) -> Result<Pause, Failure> {
        let pause = loop {
            if C::WAITS && self.is_woken(at) {
                break Pause::Woken;
            }
            if self.step(at).is_none() {
                self.events.advance_to(at);
                break Pause::Limit;
            }
        };
        self.host.failure().map_or(Ok(pause), |why| Err(Failure::User(why.to_string())))
    }

    /// Submits a request from outside the flows now, see [`Host::submit`].
    pub fn submit(&mut self, queue: u32, tag: Tag, request: Request) {
        self.host.submit(&mut self.events, queue, tag, request);
    }

    /// Generates no more requests and completes the outstanding ones.
    pub fn close(&mut self) -> Result<(), Failure> {
        self.host.close();
        while self.run(self.events.horizon(), u64::MAX, &mut |_| true)? == Pause::Woken {}
        Ok(())
    }
}
