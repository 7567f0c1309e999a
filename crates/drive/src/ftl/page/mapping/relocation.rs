//! Relocated unit: logical unit and source.

use crate::numbers::{Lpn, Ppu};

/// A unit that is moved, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// The logical unit.
    pub lpn: Lpn,
    /// Where the copy is that is moved.
    pub source: Ppu,
}
