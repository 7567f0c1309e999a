//! Source page of a copyback.

use crate::cell_mode::CellMode;
use crate::ids::BlockId;

/// A page that a copyback senses, on the plane where it is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its block.
    pub block: BlockId,
    /// The page of the block.
    pub page: u32,
    /// Mode of the block.
    pub mode: CellMode,
}
