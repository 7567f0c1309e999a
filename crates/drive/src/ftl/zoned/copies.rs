//! Copies of super blocks of zones in progress.

use crate::numbers::SuperBlock;

/// Copy of a super block of a zone.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    pub(super) zone: u32,
    /// Resets of the zone; one more ends the repair.
    pub(super) generation: u32,
    /// Index of the super block in the zone.
    pub(super) k: usize,
    /// Programs to copy.
    pub(super) keep: u32,
    pub(super) from: SuperBlock,
    /// [`NO_BLOCK`](crate::ftl::block_pool::NO_BLOCK) until it begins.
    pub(super) to: SuperBlock,
    /// Programs copied.
    pub(super) copied: u32,
    /// Page reads of the next program in flight.
    pub(super) reads: u32,
}

/// Repairs of a drive.
#[derive(Default)]
pub(super) struct Repairs {
    /// By number; `None` those that have ended.
    pub(super) all: Vec<Option<Repair>>,
    /// Repairs that have not begun.
    pub(super) waiting: u32,
    /// Repairs that have not ended.
    pub(super) left: u32,
}
