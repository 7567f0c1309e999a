//! Ring of the last state changes of a die, for observers and for the message of an illegal operation.

use super::State;
use super::usage::SLOTS;
use crate::command::DieActivity;
use crate::ids::BlockId;
use crate::parts::power::Draw;
use interpulse_engine::SimTime;
use std::fmt;

const KEPT: usize = 16;

/// A change of a die's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it was.
    pub at: SimTime,
    /// The block concerned.
    pub block: BlockId,
    /// State and activity from then on, as an index into [`SLOTS`].
    pub(super) slot: u8,
}

impl Change {
    /// State of the die from then on.
    pub fn state(&self) -> State {
        SLOTS[usize::from(self.slot)].state
    }

    /// Currents of that state, at first and then.
    pub(crate) fn draws(&self) -> [Draw; 2] {
        SLOTS[usize::from(self.slot)].draws
    }

    /// Activity of the die from then on.
    pub fn usage(&self) -> DieActivity {
        SLOTS[usize::from(self.slot)].usage
    }
}

/// A ring of the last changes of one die.
#[derive(Clone)]
pub struct History {
    ring: [Change; KEPT],
    written: u64,
}

impl Default for History {
    fn default() -> Self {
        let idle = Change { at: SimTime::ZERO, block: BlockId(0), slot: 0 };
        History { ring: [idle; KEPT], written: 0 }
    }
}

impl History {
    /// How many changes have been noted.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The last change; before the first, the start of the simulation.
    pub fn last(&self) -> Change {
        self.ring[(self.written.wrapping_sub(1) % KEPT as u64) as usize]
    }

    /// The state before change number `seen`.
    pub fn before(&self, seen: u64) -> State {
        assert!(self.written - seen < KEPT as u64, "changes that nobody has seen are gone");
        if seen == 0 { State::Idle } else { self.ring[((seen - 1) % KEPT as u64) as usize].state() }
    }

    /// The changes from number `seen` on, of which no more may be than are kept.
    pub fn since(&self, seen: u64) -> impl Iterator<Item = Change> + '_ {
        assert!(self.written - seen <= KEPT as u64, "changes that nobody has seen are gone");
        (seen..self.written).map(|i| self.ring[(i % KEPT as u64) as usize])
    }

    /// Notes a change.
    #[inline]
    pub(super) fn note(&mut self, change: Change) {
        self.ring[(self.written % KEPT as u64) as usize] = change;
        self.written += 1;
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self.since(self.written.saturating_sub(KEPT as u64)) {
            writeln!(f, "  {} ns: {:?} (block {})", change.at.as_ns(), change.state(), change.block)?;
        }
        Ok(())
    }
}
