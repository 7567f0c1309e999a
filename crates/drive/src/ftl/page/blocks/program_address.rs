//! Program address: super block, program operation, and the offset of each of its units.
//!
//! Offsets keep the stride of the native cell mode, so that the flash address of a unit does not depend on the mode of its
//! block ([`interpulse_flash::cell_mode`]). With fewer bits per cell, units of some offsets do not exist.

use crate::ftl::layout::{Layout, UnitAt};
use crate::numbers::SuperBlock;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::Bit;
use std::ops::Range;

/// Address of one program operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAddress {
    /// Super block, numbered over the drive.
    pub super_block: SuperBlock,
    /// Program operation within it, in the numbering of the native mode.
    pub program: u32,
    /// Offset of the first native unit of the operation in the super block.
    pub first_offset: u32,
    /// Cell mode of the super block.
    pub mode: CellMode,
    /// Page of the word line that a reprogram rewrites; `None` for a first program.
    pub reprogram: Option<Bit>,
}

/// Units of a program with consecutive offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Units of the operation.
    pub units: Range<usize>,
    /// Offset of the first in the super block.
    pub offset: u32,
}

impl ProgramAddress {
    /// Program operation `program`, in native numbering, of an erased word line or page of a super block in `mode`.
    #[inline]
    pub fn new(layout: &Layout, super_block: SuperBlock, program: u32, mode: CellMode) -> ProgramAddress {
        let first_offset = program * layout.units_per_program;
        ProgramAddress { super_block, program, first_offset, mode, reprogram: None }
    }

    /// Offset in the super block of the `k`-th unit of the operation.
    #[inline]
    pub fn offset(&self, layout: &Layout, k: u32) -> u32 {
        match self.mode {
            CellMode::Native => self.first_offset + k,
            _ => {
                let run = self.run_in_mode(layout);
                self.first_of_runs(layout) + k / run * layout.units_of_plane_program() + k % run
            }
        }
    }

    /// [`ProgramAddress::offset`] with the super block.
    #[inline]
    pub fn unit(&self, layout: &Layout, k: u32) -> UnitAt {
        UnitAt { super_block: self.super_block, offset: self.offset(layout, k) }
    }

    /// The first `count` units of the operation in runs of consecutive offsets: one run in the native mode, one for each
    /// plane in another.
    #[inline]
    pub fn runs(&self, layout: &Layout, count: usize) -> impl Iterator<Item = Run> + use<> {
        let (length, stride, first) = match self.mode {
            CellMode::Native => (count.max(1), 0, self.first_offset),
            _ => {
                let run = self.run_in_mode(layout);
                (run as usize, layout.units_of_plane_program(), self.first_of_runs(layout))
            }
        };
        let (mut begin, mut offset) = (0, first);
        std::iter::from_fn(move || {
            (begin < count).then(|| {
                let run = Run { units: begin..(begin + length).min(count), offset };
                (begin, offset) = (begin + length, offset + stride);
                run
            })
        })
    }

    /// Word line of the operation.
    #[inline]
    pub fn word_line(&self, layout: &Layout) -> WordLineId {
        WordLineId(self.program / layout.programs_per_word_line)
    }

    /// Units of the operation.
    #[inline]
    pub fn units(&self, layout: &Layout) -> u32 {
        match self.mode {
            CellMode::Native => layout.units_per_program,
            _ => self.run_in_mode(layout) * layout.planes,
        }
    }

    /// Units of the operation on one plane.
    fn run_in_mode(&self, layout: &Layout) -> u32 {
        let pages = if self.reprogram.is_some() { 1 } else { layout.pages_per_program_in(self.mode) };
        pages * layout.units_per_page()
    }

    /// Offset of the first unit. A reprogram of a part that programs whole word lines may begin with the second page.
    fn first_of_runs(&self, layout: &Layout) -> u32 {
        match self.reprogram {
            Some(bit) if layout.programs_per_word_line == 1 => {
                self.first_offset + bit as u32 * layout.units_per_page()
            }
            _ => self.first_offset,
        }
    }
}
