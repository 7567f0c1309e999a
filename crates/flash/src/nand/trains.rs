//! Pulse train of an operation: the slowest of its word lines or blocks.

use super::txn::Txn;
use crate::geometry::Geometry;
use crate::ids::{BlockId, WordLineId};
use crate::pulse::PulseTrain;

/// The longest of the trains of the planes of an operation, which last as long as the slowest.
pub fn slowest(txn: &Txn, train_of: impl Fn(u32) -> PulseTrain) -> PulseTrain {
    let trains = txn.planes().each().map(train_of);
    trains.max_by_key(|train| train.total()).expect("an operation addresses a plane")
}

/// Identifies a word line of one plane for the variation of its program time; operations without an address
/// take the order of submission as their word line. A part has at most 2^16 word lines in a block, 2^20 blocks
/// and 2^6 planes.
pub fn word_line_key(txn: &Txn, plane: u32, geometry: &Geometry) -> u64 {
    if txn.block == BlockId::NONE {
        return 1 << 63 | u64::from(plane) << 56 | txn.seq;
    }
    let word_line = WordLineId::of_page(txn.page, geometry.pages_per_word_line);
    u64::from(txn.die.0) << 44
        | u64::from(plane) << 36
        | u64::from(txn.block.0) << 16
        | u64::from(word_line.0)
}

/// Identifies a block of one plane for the growth of its erase time; operations without an address take the order of
/// submission as their block.
pub fn block_key(txn: &Txn, plane: u32) -> u64 {
    if txn.block == BlockId::NONE {
        return 1 << 63 | u64::from(plane) << 56 | txn.seq;
    }
    u64::from(txn.die.0) << 40 | u64::from(plane) << 32 | u64::from(txn.block.0)
}
