//! Relocated unit: logical unit and source.

use crate::numbers::{Lpn, Ppu};

/// A unit being relocated.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// Logical unit.
    pub lpn: Lpn,
    /// Physical unit of the copy being moved.
    pub source: Ppu,
}
