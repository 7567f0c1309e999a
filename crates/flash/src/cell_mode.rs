//! Cell mode of a block: how many bits each of its cells holds.
//!
//! Page numbers keep the stride of the native mode: word line `w` begins at page `w * geometry.pages_per_word_line` in every
//! mode, and a mode with fewer bits leaves the last pages of that stride unused.

use crate::geometry::{Geometry, Timing};
use crate::pulse::PulseTrain;
use crate::variation::Trains;
use interpulse_engine::Duration;

/// Bits per cell in use on the word lines of a block. An erase returns a block to the native mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CellMode {
    /// All bits of the part.
    #[default]
    Native,
    /// Two bits per cell on a part with more; its word lines can be reprogrammed ([`crate::reprogram`]).
    Mlc,
    /// One bit per cell. Its error rate is that of the least significant page of the part, and so are its times where the
    /// part gives none ([`crate::parts::SlcModeSpec`]).
    Slc,
}

impl CellMode {
    /// Pages in use on a word line of a part with `native` bits per cell.
    #[inline]
    pub const fn pages_per_word_line(self, native: u32) -> u32 {
        match self {
            CellMode::Native => native,
            CellMode::Mlc => 2,
            CellMode::Slc => 1,
        }
    }

    /// The page programmed after page `end - 1`: the unused pages of a word line are passed over.
    #[inline]
    pub const fn next_page(self, end: u32, native: u32) -> u32 {
        match self {
            CellMode::Native => end,
            mode if end % native == mode.pages_per_word_line(native) => end.next_multiple_of(native),
            _ => end,
        }
    }

    /// The train of a program, or of a reprogram, of the word line that `key` identifies.
    #[inline]
    pub(crate) fn train(self, trains: &Trains, reprogram: bool, key: u64) -> PulseTrain {
        match self {
            CellMode::Native => trains.program(key),
            CellMode::Slc => trains.one_bit(key),
            CellMode::Mlc => trains.two_bit(reprogram, key),
        }
    }

    /// tR of a page of this type.
    #[inline]
    pub fn sensing(self, timing: &Timing, page_type: usize) -> Duration {
        match self {
            CellMode::Native => timing.read[page_type],
            CellMode::Mlc => timing.read_mlc_mode,
            CellMode::Slc => timing.read_slc_mode,
        }
    }
}

impl Geometry {
    /// Pages in use on a word line in `mode`.
    #[inline]
    pub const fn pages_per_word_line(&self, mode: CellMode) -> u32 {
        mode.pages_per_word_line(self.pages_per_word_line)
    }

    /// Pages of a block that hold data in `mode`.
    #[inline]
    pub const fn pages_per_block_in(&self, mode: CellMode) -> u32 {
        self.word_lines * self.pages_per_word_line(mode)
    }

    /// Pages that one operation programs on one plane in `mode`.
    #[inline]
    pub(crate) fn pages_per_program(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Native => self.pages_per_program,
            _ => self.pages_per_program.min(self.pages_per_word_line(mode)),
        }
    }
}
