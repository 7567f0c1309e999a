//! Who writes to a lane, and the open block of each.

use crate::ftl::page::separation::MOST_LEVELS;
use crate::numbers::SuperBlock;
use std::collections::VecDeque;

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Stream {
    /// Data from the host.
    Host,
    /// Data moved by garbage collection.
    Gc,
    /// Data from the host of the hottest level.
    Hot0,
    /// Of the second level.
    Hot1,
    /// Of the third.
    Hot2,
}

/// Number of [`Stream`] values.
pub(crate) const STREAMS: usize = 2 + MOST_LEVELS;

impl Stream {
    /// The stream of host data of hot level `level`, or of cold data beyond `levels`.
    pub fn of_level(level: u32, levels: u32) -> Stream {
        match level {
            _ if level >= levels => Stream::Host,
            0 => Stream::Hot0,
            1 => Stream::Hot1,
            _ => Stream::Hot2,
        }
    }
}

/// The open block of one stream of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Frontier {
    /// The super block, meaningful while `next_program` is below the block's programs.
    pub(crate) block: SuperBlock,
    /// The next program operation; equal to the programs of a block when there is no open block.
    pub(crate) next_program: u32,
}

#[derive(Clone)]
pub(crate) struct LaneBlocks {
    /// Erased super blocks, the longest erased first, which levels wear.
    pub(crate) free: VecDeque<SuperBlock>,
    pub(crate) frontiers: [Frontier; STREAMS],
}
