//! DRAM bus of a controller: one access at a time, whose duration follows from the commands of the memory.

pub mod spec;

use interpulse_engine::{Duration, SimTime};
use spec::DramSpec;

/// The bus, in order of arrival.
pub struct Dram {
    spec: DramSpec,
    free_at: SimTime,
}

impl Dram {
    /// Idle bus.
    pub fn new(spec: DramSpec) -> Dram {
        Dram { spec, free_at: SimTime::ZERO }
    }

    /// Transfers `bytes` after all earlier accesses; returns when the last byte has crossed the bus, and how long the access
    /// occupies it.
    pub fn access(&mut self, now: SimTime, bytes: u64) -> (SimTime, Duration) {
        let begin = now.max(self.free_at);
        let takes = self.spec.cycle(bytes);
        self.free_at = begin + takes;
        (begin + self.spec.transfer(bytes), takes)
    }
}

#[cfg(test)]
mod tests {
    use super::spec::{DramKind, DramSpec};
    use super::*;

    #[test]
    fn accesses_follow_each_other() {
        // DDR4-2400 of 32 bits: 128 bursts of 32 bytes, 3.33 ns each; then the row is closed.
        let mut dram = Dram::new(DramSpec::of(DramKind::Ddr4At2400));
        let at = SimTime(1_000);
        let (first, closed) = (14 + 14 + 427, 14);
        let takes = Duration::from_ns(first + closed);
        assert_eq!(dram.access(at, 4_096), (SimTime(1_000 + first), takes));
        assert_eq!(dram.access(at, 4_096), (SimTime(1_000 + first + closed + first), takes));
        assert_eq!(dram.access(SimTime(5_000), 0), (SimTime(5_028), Duration::from_ns(28 + closed)));
    }

    #[test]
    fn rows_are_opened_one_after_another() {
        let spec = DramSpec::of(DramKind::Ddr4At2400);
        let one = spec.transfer(4_096).as_ns();
        // Each further row: close, open, column.
        assert_eq!(spec.transfer(3 * 4_096).as_ns(), 14 + 14 + 2 * 42 + 1_280);
        assert_eq!(one, 14 + 14 + 427);
        // A part of a burst takes a burst.
        assert_eq!(spec.transfer(1), spec.transfer(32));
    }
}
