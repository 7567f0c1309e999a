//! Observer interface: state changes of dies, transfers and queue lengths.
//!
//! A die records each change of its state ([`crate::die::history`]). With observers, the array reads this record after each
//! event; without them that costs only the branch that the power budget takes anyway.

use super::phase_schedule::PhaseSchedule;
use crate::command::{DieActivity, Kind};
use crate::die::State;
use crate::ids::{BlockId, DieId};
use interpulse_engine::SimTime;

/// A die has changed its state.
#[derive(Clone, Copy, Debug)]
pub struct DieChange {
    /// The die.
    pub die: DieId,
    /// When it was.
    pub at: SimTime,
    /// State before.
    pub before: State,
    /// State now.
    pub state: State,
    /// Activity now.
    pub usage: DieActivity,
    /// The block concerned.
    pub block: BlockId,
    /// Program or erase on the die, running or suspended; of two, the later one.
    pub operation: Option<OnDie>,
    /// Phase schedule from now on; `None` if the event that entered the state also left it.
    pub schedule: Option<PhaseSchedule>,
    /// [`Owner::index`](super::txn::Owner) of the host read that the die serves; of several together, the first.
    pub reads_for: Option<u32>,
}

/// Change of a die's queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueChange {
    /// The die.
    pub die: DieId,
    /// When it was.
    pub at: SimTime,
    /// How many wait from now on.
    pub waiting: u32,
}

/// A program or erase on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDie {
    /// What it is.
    pub kind: Kind,
    /// When it was put on the die.
    pub started: SimTime,
    /// How often it has been suspended.
    pub suspends: u32,
}

/// Data begins to move over a channel.
#[derive(Clone, Copy, Debug)]
pub struct DataMove {
    /// The channel.
    pub channel: u32,
    /// Whether it moves into a die or out of it.
    pub into: bool,
    /// Parity included.
    pub bytes: u64,
    /// When it begins.
    pub at: SimTime,
    /// When it ends.
    pub end: SimTime,
}

/// Observer of the dies of an array, notified in order of time; at one instant, in the order of the array's events.
pub trait FlashObserver {
    /// A die has changed its state.
    fn die_changed(&mut self, change: &DieChange);

    /// Data begins to move.
    fn data_moves(&mut self, _data: &DataMove) {}

    /// The queue of a die has changed its length.
    fn queue_changed(&mut self, _change: &QueueChange) {}
}
