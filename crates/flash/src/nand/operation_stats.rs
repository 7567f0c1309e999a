//! Duration and suspensions of completed programs and erases.

use crate::command::Effect;
use crate::die::LongOp;
use interpulse_engine::{LatencyHistogram, SimTime};

/// Operations that were suspended this often or more share the last count.
const MOST_COUNTED: usize = 64;

/// The completed operations of one kind.
#[derive(Clone)]
pub struct OperationTimes {
    /// From the start on the die to the end, suspensions included.
    pub times: LatencyHistogram,
    /// Operations by number of suspensions; the last entry holds those with more, too.
    pub by_suspends: [u64; MOST_COUNTED + 1],
    /// Most suspensions of one operation.
    pub most_suspends: u32,
}

impl Default for OperationTimes {
    fn default() -> Self {
        OperationTimes {
            times: LatencyHistogram::default(),
            by_suspends: [0; MOST_COUNTED + 1],
            most_suspends: 0,
        }
    }
}

/// The completed programs and erases of a measurement window.
#[derive(Clone, Default)]
pub struct OperationStats {
    /// Programs, of host data and of moved data.
    pub programs: OperationTimes,
    /// Erases.
    pub erases: OperationTimes,
}

impl OperationTimes {
    /// Adds the operations of another array of dies.
    pub fn merge(&mut self, other: &OperationTimes) {
        self.times.merge(&other.times);
        for (to, from) in self.by_suspends.iter_mut().zip(other.by_suspends) {
            *to += from;
        }
        self.most_suspends = self.most_suspends.max(other.most_suspends);
    }
}

impl OperationStats {
    /// Adds the operations of another array of dies.
    pub fn merge(&mut self, other: &OperationStats) {
        self.programs.merge(&other.programs);
        self.erases.merge(&other.erases);
    }

    /// Adds an operation that ends at `now`.
    #[inline]
    pub fn record(&mut self, op: &LongOp, now: SimTime) {
        let of = match op.effect {
            Effect::Programs => &mut self.programs,
            Effect::Erases => &mut self.erases,
            _ => return,
        };
        of.times.record(now.since(op.started));
        of.by_suspends[(op.suspends as usize).min(MOST_COUNTED)] += 1;
        of.most_suspends = of.most_suspends.max(op.suspends);
    }
}
