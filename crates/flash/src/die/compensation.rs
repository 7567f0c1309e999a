//! Loops that a compensated resume adds to the program on a die.

use super::Die;
use crate::suspend::Compensation;
use interpulse_engine::SimTime;

impl Die {
    /// The suspended program resumes its pulses at `now` with a lower voltage, but not below that of its first loop. Returns the
    /// loops that it needs more.
    pub(crate) fn compensate(&mut self, now: SimTime, by: Compensation) -> u32 {
        let op = self.long.as_mut().expect("a program resumes");
        let done = op.kept.as_ns() / op.train.loop_time().as_ns().max(1);
        let fallen = (op.fallen + by.steps(now.since(op.halted))).min(done as f64);
        let address = op.block.map_or(0, |block| u64::from(block.0) << 32 | u64::from(op.pages.first));
        let more = Compensation::loops(op.fallen, fallen, op.started.as_ns() ^ address);
        op.fallen = fallen;
        op.train.loops += more;
        op.until = op.train.total();
        more
    }
}
