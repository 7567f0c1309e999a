//! Metadata region: programs in flight to it, and totals written.

use crate::numbers::{GroupId, JobId, Lane, SuperBlock};
use interpulse_engine::{Duration, RequestId, Slab};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// Complete the checkpoint.
    Checkpoint,
    /// Complete the flush of this request.
    Flush(RequestId),
    /// Erase this super block.
    Erase(SuperBlock),
    /// Submit this reprogram.
    Reprogram(JobId),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) then: Then,
    /// Last trim version in the group.
    pub(crate) version: u32,
    pub(crate) programs: u64,
}

pub(crate) struct MetadataRegion {
    /// Time between the beginnings of two checkpoints.
    pub(crate) every: Duration,
    /// Super blocks whose interrupted erase has not been repeated.
    pub(crate) broken: Vec<bool>,
    pub(crate) groups: Slab<GroupId, Group>,
    pub(crate) next_lane: Lane,
    pub(crate) written: MetadataWritten,
}

/// Totals written to the metadata region.
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

    pub(crate) fn erased(&mut self, super_block: SuperBlock) {
        self.broken[super_block.index()] = false;
    }

    pub(crate) fn lose_power(&mut self) {
        self.groups = Slab::default();
    }
}
