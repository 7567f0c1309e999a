//! Cell mode of each super block.

use crate::numbers::SuperBlock;
use interpulse_flash::cell_mode::CellMode;

/// Cell modes of the super blocks of a drive. An erased block is native.
#[derive(Clone, Debug)]
pub(crate) struct CellModes {
    /// By super block; empty until one is not native.
    of: Vec<CellMode>,
    super_blocks: u32,
}

impl CellModes {
    /// Native super blocks.
    pub(crate) fn new(super_blocks: u32) -> CellModes {
        CellModes { of: Vec::new(), super_blocks }
    }

    /// Mode of a super block.
    #[inline]
    pub(crate) fn of(&self, super_block: SuperBlock) -> CellMode {
        if self.of.is_empty() { CellMode::Native } else { self.of[super_block.index()] }
    }

    /// Sets the mode of a super block.
    #[inline]
    pub(crate) fn set(&mut self, super_block: SuperBlock, mode: CellMode) {
        if self.of.is_empty() {
            if mode == CellMode::Native {
                return;
            }
            self.of = vec![CellMode::Native; self.super_blocks as usize];
        }
        self.of[super_block.index()] = mode;
    }

    /// Whether a super block is native.
    pub(crate) fn is_native(&self, super_block: SuperBlock) -> bool {
        self.of(super_block) == CellMode::Native
    }

    /// Mode of each super block; empty if all are native.
    pub(crate) fn all(&self) -> &[CellMode] {
        &self.of
    }

    /// Whether no super block has been in another mode so far.
    #[inline]
    pub(crate) fn are_native(&self) -> bool {
        self.of.is_empty()
    }
}
