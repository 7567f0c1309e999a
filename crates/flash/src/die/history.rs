//! The last commands of a die, kept for the message of an illegal one.

use super::State;
use interpulse_engine::SimTime;
use std::fmt;

const KEPT: usize = 16;

/// A ring of the last state changes.
#[derive(Clone)]
pub struct History {
    ring: [(SimTime, State, u32); KEPT],
    written: u64,
}

impl Default for History {
    fn default() -> Self {
        History { ring: [(SimTime::ZERO, State::Idle, 0); KEPT], written: 0 }
    }
}

impl History {
    /// How many changes have been noted.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// When the last change was; the start of the simulation before the first.
    pub fn last(&self) -> SimTime {
        self.ring[(self.written.wrapping_sub(1) % KEPT as u64) as usize].0
    }

    /// Notes that the die went to `state` at `now`; `detail` is the block concerned.
    #[inline]
    pub fn note(&mut self, now: SimTime, state: State, detail: u32) {
        self.ring[(self.written % KEPT as u64) as usize] = (now, state, detail);
        self.written += 1;
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.written.saturating_sub(KEPT as u64);
        for i in first..self.written {
            let (at, state, block) = self.ring[(i % KEPT as u64) as usize];
            writeln!(f, "  {} ns: {state:?} (block {block})", at.as_ns())?;
        }
        Ok(())
    }
}
