//! Program address: super block, program operation, and the offset of each of its units.

use crate::ftl::page::blocks::layout::{Layout, UnitAt};
use crate::numbers::SuperBlock;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::MlcModeOp;

/// Address of one program operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAddress {
    /// Super block, numbered over the drive.
    pub super_block: SuperBlock,
    /// Program operation within it.
    pub program: u32,
    /// Offset of its first unit in the super block.
    pub first_offset: u32,
    /// Effect on a two-bit word line, if the block is in two-bit mode.
    pub two_bit: Option<MlcModeOp>,
}

impl ProgramAddress {
    /// Offset in the super block of the `k`-th unit of the operation.
    #[inline]
    pub fn offset(&self, layout: &Layout, k: u32) -> u32 {
        match self.two_bit {
            None => self.first_offset + k,
            Some(how) => two_bit_offset(layout, self.first_offset, how, k),
        }
    }

    /// [`ProgramAddress::offset`] with the super block.
    #[inline]
    pub fn unit(&self, layout: &Layout, k: u32) -> UnitAt {
        UnitAt { super_block: self.super_block, offset: self.offset(layout, k) }
    }

    /// Word line of the operation.
    #[inline]
    pub fn word_line(&self, layout: &Layout) -> WordLineId {
        WordLineId(self.program / layout.programs_per_word_line)
    }

    /// Units of the operation.
    pub fn units(&self, layout: &Layout) -> u32 {
        let page = layout.units_per_page() * layout.planes;
        match self.two_bit {
            None => layout.units_per_program,
            Some(MlcModeOp::Whole) if layout.programs_per_word_line == 1 => 2 * page,
            Some(_) => page,
        }
    }
}

/// Offset for a program of one or two pages per plane.
fn two_bit_offset(layout: &Layout, first: u32, how: MlcModeOp, k: u32) -> u32 {
    if layout.programs_per_word_line > 1 {
        // One page, or a reprogram, whose address is its page.
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
