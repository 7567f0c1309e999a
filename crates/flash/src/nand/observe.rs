//! What dies do, told to whoever wants to know: the meter of the current, the spans of a script, and whatever else is to
//! follow them.
//!
//! A die notes each change of its state ([`crate::die::history`]), for the message of an illegal one. Where somebody
//! listens, the array reads these notes after each event and tells them on; where nobody does, that is the one branch that
//! it takes for power anyway.

use super::course::Course;
use crate::command::{Kind, Use};
use crate::die::State;
use crate::numbers::{BlockId, DieId};
use interpulse_engine::SimTime;

/// A die has changed its state.
#[derive(Clone, Copy, Debug)]
pub struct DieChange {
    /// The die.
    pub die: DieId,
    /// When it was.
    pub at: SimTime,
    /// What it did before.
    pub before: State,
    /// What it does now.
    pub state: State,
    /// What that is to those who wait.
    pub usage: Use,
    /// The block concerned.
    pub block: BlockId,
    /// The program or erase on the die, running or suspended; of two, the one that came last.
    pub operation: Option<OnDie>,
    /// What the die does from now on; `None` if the event in which it entered the state ended in another.
    pub course: Option<Course>,
    /// The owner of the read of the host that it does this for, of several together the first.
    pub reads_for: Option<u32>,
}

/// Transactions have come into the line of a die, or have left it.
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

/// Somebody who is told what the dies of an array do, in order of time; of one instant, in the order of the array's events.
pub trait FlashObserver {
    /// A die has changed its state.
    fn die_changed(&mut self, change: &DieChange);

    /// Data begins to move.
    fn data_moves(&mut self, _data: &DataMove) {}

    /// The line of a die has changed its length.
    fn queue_changed(&mut self, _change: &QueueChange) {}
}
