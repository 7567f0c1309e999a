//! `sequential-by-kind` address pattern: reads, writes and trims have a position each, as in fio's `rw=rw`. A position
//! wraps at the end of the region.

use super::{Draw, Pattern, Region, sequential};
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};

/// Consecutive addresses by kind of request.
pub struct SequentialByKind;

#[derive(Default)]
pub(super) struct Running {
    reads: sequential::Running,
    writes: sequential::Running,
    trims: sequential::Running,
}

impl Pattern for SequentialByKind {
    fn instantiate(&self, _: &Region, _: u64) -> Result<super::Running, Illegal> {
        Ok(super::Running::SequentialByKind(Running::default()))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, op: Op, sectors: u32) -> u64 {
        let position = match op {
            Op::Read => &mut self.reads,
            Op::Trim => &mut self.trims,
            _ => &mut self.writes,
        };
        position.next(region, rng, op, sectors)
    }
}
