//! Machine: cores, memory and initial states shared by concurrent runs.
//!
//! Runs are ranked. An idle core goes to the lowest rank that can use it, so that a later run uses only capacity
//! that earlier runs leave.

mod condition;
mod cores;
pub mod free_memory;
pub mod memory_admission;
mod memory_reservations;
mod shared_states;

use crate::control::Control;
pub use cores::Core;
use cores::Cores;
pub use memory_reservations::MemoryReservation;
use memory_reservations::MemoryReservations;
pub use shared_states::Claim;
use shared_states::SharedStates;
use std::sync::Arc;
use std::time::Duration;

/// Resources shared by runs.
pub struct Machine {
    cores: Cores,
    reservations: MemoryReservations,
    states: SharedStates,
}

impl Machine {
    /// A machine with `cores` usable cores.
    pub fn new(cores: usize) -> Arc<Machine> {
        let (reservations, states) = (MemoryReservations::default(), SharedStates::default());
        Arc::new(Machine { cores: Cores::new(cores), reservations, states })
    }

    /// Waits at most `time` for a core for work outside any run; returns whether it got one. [`Machine::give`]
    /// returns the core.
    pub fn take(&self, rank: u64, time: Duration) -> bool {
        self.cores.take(rank, &mut patience(time)).map(Core::keep).is_some()
    }

    /// Returns a core that [`Machine::take`] gave.
    pub fn give(&self) {
        self.cores.give();
    }
}

/// True once `time` has passed.
fn patience(time: Duration) -> impl FnMut() -> bool {
    let begun = std::time::Instant::now();
    move || begun.elapsed() >= time
}

/// Share of a run in a machine.
#[derive(Clone)]
pub struct MachineShare {
    machine: Arc<Machine>,
    /// Lower ranks go first.
    rank: u64,
}

impl MachineShare {
    /// Share of one of several runs.
    pub fn of(machine: Arc<Machine>, rank: u64) -> MachineShare {
        MachineShare { machine, rank }
    }

    /// Share of a run with `cores` cores of its own.
    pub fn exclusive(cores: usize) -> MachineShare {
        MachineShare::of(Machine::new(cores), 0)
    }

    /// Waits for memory for a run of at most `bytes`; `None` once it is stopped.
    pub fn reserve_memory(&self, bytes: u64, control: &Control) -> Option<MemoryReservation<'_>> {
        self.machine
            .reservations
            .reserve(self.rank, bytes, &crate::machine::free_memory::free, &mut || control.stopped())
    }

    /// Waits for a core; `None` once the run is stopped or `cancelled`.
    pub fn core(&self, control: &Control, cancelled: &dyn Fn() -> bool) -> Option<Core<'_>> {
        self.machine.cores.take(self.rank, &mut || control.stopped() || cancelled())
    }

    /// Claims the right to build state `hash` for the holder of `core`, and returns both. While another run builds
    /// it, the core is released: a claim holder always has a core, so a waiting run never deadlocks. Returns neither
    /// once the run is stopped.
    pub fn claim<'a>(
        &'a self,
        hash: &str,
        mut core: Option<Core<'a>>,
        control: &Control,
    ) -> (Option<Core<'a>>, Option<Claim<'a>>) {
        while !control.stopped() {
            if let Some(claim) = self.machine.states.claim(hash) {
                return (core, Some(claim));
            }
            drop(core.take());
            self.machine.states.wait(hash, &mut || control.stopped());
            core = self.core(control, &|| false);
        }
        (core, None)
    }
}

#[cfg(test)]
mod tests;
