//! The machine, as runs share it that go on side by side: its cores, its memory, and the states that one of them makes.
//!
//! Runs have an order. A core that is idle goes to the first run that has something for it, so that what comes later
//! fills what those before it leave, and no more.

mod cores;
mod promises;
mod states;

use crate::control::{Control, lock};
pub use cores::Core;
use cores::Cores;
pub use promises::Promise;
use promises::Promises;
pub use states::Claim;
use states::Making;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long somebody who waits sleeps until he looks again whether he is still to wait.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What runs share.
pub struct Machine {
    cores: Cores,
    promises: Promises,
    making: Making,
}

impl Machine {
    /// One of which so many cores may be used.
    pub fn new(cores: usize) -> Arc<Machine> {
        let (promises, making) = (Promises::default(), Making::default());
        Arc::new(Machine { cores: Cores::new(cores), promises, making })
    }

    /// Waits no longer than `time` for a core, for work that is no run's; whether there is one. [`Machine::give`] takes it back.
    pub fn take(&self, rank: u64, time: Duration) -> bool {
        self.cores.take(rank, &mut patience(time)).map(Core::keep).is_some()
    }

    /// Takes back a core that [`Machine::take`] gave.
    pub fn give(&self) {
        self.cores.give();
    }
}

/// Says to wait no longer once this time is over.
fn patience(time: Duration) -> impl FnMut() -> bool {
    let begun = std::time::Instant::now();
    move || begun.elapsed() >= time
}

/// Where a run stands among those of a machine.
#[derive(Clone)]
pub struct Place {
    machine: Arc<Machine>,
    /// Lower ones go first.
    rank: u64,
}

impl Place {
    /// One of several runs.
    pub fn among(machine: Arc<Machine>, rank: u64) -> Place {
        Place { machine, rank }
    }

    /// That of a run that has so many cores for itself.
    pub fn alone(cores: usize) -> Place {
        Place::among(Machine::new(cores), 0)
    }

    /// Waits until there is memory for a run that takes so many bytes at most; `None` once it is stopped.
    pub fn begin(&self, bytes: u64, control: &Control) -> Option<Promise<'_>> {
        self.machine.promises.ask(self.rank, bytes, &crate::memory::free, &mut || control.stopped())
    }

    /// Waits for a core; `None` once the run is stopped or `given_up`.
    pub fn core(&self, control: &Control, given_up: &dyn Fn() -> bool) -> Option<Core<'_>> {
        self.machine.cores.take(self.rank, &mut || control.stopped() || given_up())
    }

    /// The right to make the state of this hash, if nobody else has it.
    pub fn claim(&self, hash: &str) -> Option<Claim<'_>> {
        self.machine.making.claim(hash, &mut || true)
    }

    /// Waits until nobody else makes this state; `None` once the run is stopped.
    pub fn wait_to_claim(&self, hash: &str, control: &Control) -> Option<Claim<'_>> {
        self.machine.making.claim(hash, &mut || control.stopped())
    }
}

/// Something that threads wait for.
#[derive(Default)]
struct Awaited<T> {
    now: Mutex<T>,
    changed: Condvar,
}

impl<T> Awaited<T> {
    /// Waits until `found` finds what is looked for, or `given_up` says to wait no longer.
    fn wait<R>(
        &self,
        mut now: MutexGuard<'_, T>,
        given_up: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        loop {
            let seen = found(&mut now);
            if seen.is_some() || given_up() {
                return seen;
            }
            now = self.changed.wait_timeout(now, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Changes it, and wakes those who wait.
    fn change<R>(&self, how: impl FnOnce(&mut T) -> R) -> R {
        let done = how(&mut lock(&self.now));
        self.changed.notify_all();
        done
    }
}

#[cfg(test)]
mod tests;
