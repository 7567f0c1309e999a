//! The machine, as runs share it that go on side by side: its cores, its memory, and the states that one of them makes.
//!
//! Runs have an order. A core that is idle goes to the first run that has something for it, so that what comes later
//! fills what those before it leave, and no more.

mod awaited;
mod cores;
mod promises;
mod states;

use crate::control::Control;
pub use cores::Core;
use cores::Cores;
pub use promises::Promise;
use promises::Promises;
pub use states::Claim;
use states::Making;
use std::sync::Arc;
use std::time::Duration;

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

    /// The right to make the state of this hash, for who holds `core`, and that core. While another run makes it, the core is
    /// for others: who has the right always has a core, too, so that nobody waits for a state that nobody makes. Neither once
    /// the run is stopped.
    pub fn claim<'a>(
        &'a self,
        hash: &str,
        mut core: Option<Core<'a>>,
        control: &Control,
    ) -> (Option<Core<'a>>, Option<Claim<'a>>) {
        while !control.stopped() {
            if let Some(claim) = self.machine.making.claim(hash) {
                return (core, Some(claim));
            }
            drop(core.take());
            self.machine.making.wait(hash, &mut || control.stopped());
            core = self.core(control, &|| false);
        }
        (core, None)
    }
}

#[cfg(test)]
mod tests;
