//! A unit on its way from one place on flash to another.

use crate::numbers::{Lpn, Ppu};

/// A unit that is moved, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The logical unit.
    pub lpn: Lpn,
    /// Where the copy is that is moved.
    pub source: Ppu,
}
