//! `sequential` address pattern: reads, writes and trims share one position, which wraps at the end of the region.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};

/// Consecutive addresses.
pub struct Sequential;

#[derive(Default)]
pub(super) struct Running {
    next: u64,
}

impl Pattern for Sequential {
    fn instantiate(&self, _: &Region, _: u64) -> Result<super::Running, Illegal> {
        Ok(super::Running::Sequential(Running { next: 0 }))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, _: &mut Rng, _: Op, sectors: u32) -> u64 {
        let offset = if self.next + u64::from(sectors) > region.length { 0 } else { self.next };
        self.next = (offset + u64::from(sectors)).next_multiple_of(region.alignment);
        offset
    }
}
