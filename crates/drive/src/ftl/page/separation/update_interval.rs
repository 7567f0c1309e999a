//! `update-interval`: hotness by the time since the last write, tracked per block (Gao et al., MICRO 2019, Section 4.1).

use crate::ftl::page::separation::Separation;
use crate::ftl::page::separation::filter::{Hotness, MOST_LEVELS};
use crate::ftl::layout::Layout;
use interpulse_engine::Duration;
use interpulse_settings::{keys, required};

keys! {
    /// Separation by update interval.
    #[derive(Clone, Debug, PartialEq)]
    pub struct UpdateInterval, pub(crate) fn read(s) {
        /// upper limits of the hot levels' update intervals, ascending; data beyond the last is cold
        pub within: Vec<Duration> =
            ["hot-within"] list_duration(Some(&[minutes(30), minutes(60), minutes(120)]), required().positive()),
        /// granularity of the time stamps behind update intervals: a block, or every mapping unit
        pub by_unit: bool = ["time-stamps"] choice(
            Some("block"),
            &[("block", false, "a block has one"), ("unit", true, "every mapping unit has one")]
        ),
    } check {
        let rising = (1..=MOST_LEVELS).contains(&within.len()) && within.is_sorted_by(|a, b| a < b);
        s.check(rising, "hot-within", "1 to 3 durations, each longer than the one before")?;
    }
}

fn minutes(m: u64) -> Duration {
    Duration::from_ms(60_000 * m)
}

impl Separation for UpdateInterval {
    fn levels(&self) -> u32 {
        self.within.len() as u32
    }

    fn filter(&self, layout: &Layout) -> Option<Hotness> {
        let filter = Hotness::new(&self.within, layout.super_blocks());
        Some(if self.by_unit { filter.by_unit(layout.units()) } else { filter })
    }
}
