//! Clocks: what simulated time is synchronised with.

use interpulse_engine::{Duration, SimTime};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Result of [`Clock::synchronize`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synchronized {
    /// The clock shows the deadline.
    OnTime,
    /// The clock passed the deadline by this much.
    Late(Duration),
    /// An arrival from outside the simulation interrupted the wait at this instant, at the latest the deadline.
    Woken(SimTime),
}

/// The clock that a run follows.
pub trait Clock {
    /// Whether [`Clock::synchronize`] ever waits. A run that does not wait pays nothing for its clock.
    const WAITS: bool;

    /// Waits until the clock shows `deadline`, or until an arrival from outside the simulation interrupts the wait.
    fn synchronize(&mut self, deadline: SimTime) -> Synchronized;
}

/// No clock: simulated time passes as fast as the simulator computes.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeRunning;

impl Clock for FreeRunning {
    const WAITS: bool = false;

    #[inline(always)]
    fn synchronize(&mut self, _deadline: SimTime) -> Synchronized {
        Synchronized::OnTime
    }
}

/// Real time: one simulated nanosecond per nanosecond of the machine's monotonic clock.
#[derive(Debug)]
pub struct RealTimeClock {
    start: Instant,
    signal: Arc<Signal>,
}

/// Handle that interrupts the wait of a [`RealTimeClock`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Signal>);

/// Whether a wake-up is pending.
#[derive(Default, Debug)]
struct Signal {
    pending: Mutex<bool>,
    raised: Condvar,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, bool> {
        // The flag is valid whatever the other thread did while it held the lock.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waker {
    /// Interrupts the wait, or the next wait if the clock does not wait now. Several calls before that count once.
    pub fn wake(&self) {
        *self.0.lock() = true;
        self.0.raised.notify_one();
    }
}

impl RealTimeClock {
    /// A clock that shows zero now.
    pub fn start() -> RealTimeClock {
        RealTimeClock { start: Instant::now(), signal: Arc::default() }
    }

    /// A handle for another thread.
    pub fn waker(&self) -> Waker {
        Waker(self.signal.clone())
    }

    /// The time that the clock shows.
    pub fn now(&self) -> SimTime {
        SimTime(self.start.elapsed().as_nanos() as u64)
    }
}

impl Clock for RealTimeClock {
    const WAITS: bool = true;

    fn synchronize(&mut self, deadline: SimTime) -> Synchronized {
        let mut pending = self.signal.lock();
        loop {
            let now = self.now();
            // First, so that arrivals are not lost while the simulation is late.
            if std::mem::take(&mut *pending) {
                return Synchronized::Woken(now.min(deadline));
            }
            if now >= deadline {
                let lag = now.since(deadline);
                return if lag == Duration::ZERO { Synchronized::OnTime } else { Synchronized::Late(lag) };
            }
            let wait = std::time::Duration::from_nanos(deadline.since(now).as_ns());
            let result = self.signal.raised.wait_timeout(pending, wait);
            pending = result.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
