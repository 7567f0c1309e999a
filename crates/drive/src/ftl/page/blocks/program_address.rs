//! Program address: super block, program operation, and the offset of each of its units.

use crate::ftl::page::blocks::layout::{Layout, UnitAt};
use crate::numbers::SuperBlock;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::MlcModeOp;

/// A place for one program operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAddress {
    /// Super block, numbered over the drive.
    pub super_block: SuperBlock,
    /// Program operation within it.
    pub program: u32,
    /// Offset of its first unit in the super block.
    pub first_offset: u32,
    /// What it does to a word line with two bits per cell, if it is one.
    pub two_bit: Option<MlcModeOp>,
}

impl ProgramAddress {
    /// Where the `k`-th unit of the operation goes in its super block.
    #[inline]
    pub fn offset(&self, layout: &Layout, k: u32) -> u32 {
        match self.two_bit {
            None => self.first_offset + k,
            Some(how) => two_bit_offset(layout, self.first_offset, how, k),
        }
    }

    /// As [`ProgramAddress::offset`], with the super block.
    #[inline]
    pub fn unit(&self, layout: &Layout, k: u32) -> UnitAt {
        UnitAt { super_block: self.super_block, offset: self.offset(layout, k) }
    }

    /// The word line that the operation is on.
    #[inline]
    pub fn word_line(&self, layout: &Layout) -> WordLineId {
        WordLineId(self.program / layout.programs_per_word_line)
    }

    /// Units that the operation takes.
    pub fn units(&self, layout: &Layout) -> u32 {
        let page = layout.units_per_page() * layout.planes;
        match self.two_bit {
            None => layout.units_per_program,
            Some(MlcModeOp::Whole) if layout.programs_per_word_line == 1 => 2 * page,
            Some(_) => page,
        }
    }
}

/// Of a program of two pages on each plane, or of one.
fn two_bit_offset(layout: &Layout, first: u32, how: MlcModeOp, k: u32) -> u32 {
    if layout.programs_per_word_line > 1 {
        // A program of one page, or a reprogram, whose place is that page.
        return first + k;
    }
    let units = layout.units_per_page();
    let plane_part = layout.units_per_program / layout.planes;
    let (page, unit) = (k / units, k % units);
    match how.bit() {
        None => first + page / 2 * plane_part + page % 2 * units + unit,
        Some(bit) => first + page * plane_part + bit as u32 * units + unit,
    }
}
