//! What an array has lost.

use crate::bits::bits;
use interpulse_engine::SimTime;
use interpulse_settings::choices;

choices! {
    /// Why a drive was lost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        /// the configuration says so
        Chosen = "chosen",
        /// it could not correct too many pages
        Errors = "errors",
    }
}

/// A drive that was lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Its place in the array.
    pub drive: u32,
    /// When.
    pub at: SimTime,
    /// Why.
    pub cause: Cause,
    /// Pages that it could not correct until then.
    pub errors: u32,
    /// Whether an empty drive has taken its place.
    pub replaced: bool,
}

/// What has been lost, and what cannot be read for that reason.
#[derive(Debug)]
pub(crate) struct Losses {
    /// All of them, in order.
    pub(crate) all: Vec<Loss>,
    /// Places that hold not all of their rows, one bit each.
    pub(crate) absent: u32,
    /// Rows that each of these holds, from the first on.
    pub(crate) held: Vec<u32>,
    /// Pages that the drive in each place could not correct.
    pub(crate) errors: Vec<u32>,
    /// Places whose drives have had too many, one bit each.
    pub(crate) condemned: u32,
    pub(crate) spares_used: u32,
}

impl Losses {
    pub(crate) fn new(drives: u32) -> Losses {
        let none = vec![0; drives as usize];
        let (held, errors) = (none.clone(), none);
        Losses { all: Vec::new(), absent: 0, held, errors, condemned: 0, spares_used: 0 }
    }

    /// Places that do not hold `row`, one bit each.
    #[cold]
    pub(crate) fn missing(&self, row: u32) -> u32 {
        let mut missing = self.absent;
        for drive in bits(self.absent) {
            if row < self.held[drive as usize] {
                missing &= !(1 << drive);
            }
        }
        missing
    }

    /// These places hold all rows before `row`.
    pub(crate) fn restore(&mut self, drives: u32, row: u32) {
        for drive in bits(drives) {
            let held = &mut self.held[drive as usize];
            *held = row.max(*held);
        }
    }
}
