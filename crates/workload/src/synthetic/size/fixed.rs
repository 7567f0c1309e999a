//! `fixed` request size: every request has the same size, a multiple of 512 B.

use super::{Distribution, Draw, sectors, within};
use crate::error::Illegal;
use interpulse_engine::{Bytes, Rng, SECTOR};
use interpulse_settings::{ConfigError, Section, default};

/// One size, 512 B to 1 GiB.
pub type Fixed = Bytes;

pub(super) struct Running(u32);

impl Distribution for Fixed {
    fn read(s: &mut Section) -> Result<Fixed, ConfigError> {
        let size = s.bytes("block-size", "size of a request", within(default(Bytes::kib(4))))?;
        s.check(size.get().is_multiple_of(SECTOR.get()), "block-size", "multiples of 512B")?;
        Ok(size)
    }

    fn instantiate(&self, _: Rng) -> Result<super::Running, Illegal> {
        Ok(super::Running::Fixed(Running(sectors("block_size", *self)?)))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self) -> u32 {
        self.0
    }

    fn largest(&self) -> u32 {
        self.0
    }
}
