//! MetadataRegion region: programs in flight to it, and totals written.

use crate::numbers::{GroupId, Lane, SuperBlock};
use interpulse_engine::{Duration, RequestId, Slab};

/// Programs of moved data with an owner from here on write metadata; the rest of the number is that of their group.
pub(crate) const METADATA: u32 = 1 << 31;

/// What happens when metadata is on flash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// The checkpoint counts.
    Checkpoint,
    /// The flush of this request is done.
    Flush(RequestId),
    /// This super block is erased.
    Erase(SuperBlock),
}

/// MetadataRegion being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) then: Then,
    /// Trims up to this version are among it.
    pub(crate) version: u32,
    pub(crate) programs: u64,
}

/// What is under way to the area of metadata, and what has been written to it.
pub(crate) struct MetadataRegion {
    /// Time between the beginnings of two checkpoints.
    pub(crate) every: Duration,
    /// Super blocks whose erase has been interrupted and not been done again.
    pub(crate) broken: Vec<bool>,
    pub(crate) groups: Slab<GroupId, Group>,
    pub(crate) next_lane: Lane,
    pub(crate) written: MetadataWritten,
}

/// What has been written to the area of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataWritten {
    /// Checkpoints completed.
    pub checkpoints: u64,
    /// Pages written for checkpoints.
    pub checkpoint_pages: u64,
    /// Programs of checkpoints and trims.
    pub programs: u64,
}

impl MetadataRegion {
    pub(crate) fn new(every: Duration, super_blocks: usize) -> MetadataRegion {
        MetadataRegion {
            every,
            broken: vec![false; super_blocks],
            groups: Slab::default(),
            next_lane: Lane(0),
            written: MetadataWritten::default(),
        }
    }

    /// `super_block` has been erased.
    pub(crate) fn erased(&mut self, super_block: SuperBlock) {
        self.broken[super_block.index()] = false;
    }

    /// What was under way is void.
    pub(crate) fn lose_power(&mut self) {
        self.groups = Slab::default();
    }
}
