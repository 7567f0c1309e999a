//! State of an SLC cache: its super blocks by lane, their cycles, counters.

use super::{SlcCounters, SlcSpec};
use crate::ftl::page::blocks::write_streams::Stream;
use crate::numbers::SuperBlock;
use std::collections::VecDeque;

/// Share of a lane in the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlcLane {
    /// Super blocks in SLC mode: open, closed, being folded.
    pub(crate) used: u32,
    /// Closed super blocks not yet chosen for folding, in the order in which they closed.
    pub(crate) closed: Vec<SuperBlock>,
    /// Erased super blocks set aside.
    pub(crate) own: VecDeque<SuperBlock>,
    /// The lane folds until few enough blocks are in use.
    pub(crate) folding: bool,
    /// A closed super block may hold nothing valid, and the lane has no room.
    pub(crate) may_be_empty: bool,
    /// The last victim of the lane was folded.
    pub(crate) folded_last: bool,
}

/// Super blocks of an SLC cache.
#[derive(Clone, Debug)]
pub struct SlcCache {
    pub(super) spec: SlcSpec,
    /// Stream of the data written to the cache; with placement handles, that of the first one admitted.
    pub(crate) stream: Stream,
    /// Stream of each placement handle, `None` for handles that are not admitted; empty without handles.
    pub(crate) by_handle: Vec<Option<Stream>>,
    /// Most super blocks of a lane.
    pub(super) most: u32,
    /// Of these, blocks set aside.
    pub(super) own_of_lane: u32,
    /// Super blocks of a lane in use at which folding begins and ends.
    pub(super) begins_at: u32,
    ends_at: u32,
    pub(crate) lanes: Vec<SlcLane>,
    /// Super blocks set aside; empty where blocks are borrowed.
    pub(super) own: Vec<bool>,
    /// Cycles of each super block in SLC mode.
    pub(super) cycles: Vec<u32>,
    /// Rated cycles in native and in SLC mode.
    rated: [u32; 2],
    /// Counters since the start.
    pub counters: SlcCounters,
}

/// SLC cache of a state between runs. Blocks have their modes, lanes have the write pointer of the cache behind those of the
/// snapshot, and their free lists begin with the erased blocks that are set aside.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptSlc {
    /// Super blocks set aside; empty where blocks are borrowed.
    pub(super) own: Vec<bool>,
    /// Cycles of each super block in SLC mode.
    pub(super) cycles: Vec<u32>,
    /// Of each lane: erased super blocks set aside, and whether it folds.
    pub(super) lanes: Vec<(u32, bool)>,
}

/// Streams of the data written to a cache.
pub(super) struct SlcStreams {
    /// The only one; with placement handles, that of the first handle that is admitted.
    pub(super) first: Stream,
    /// As [`SlcCache::by_handle`].
    pub(super) by_handle: Vec<Option<Stream>>,
}

impl SlcCache {
    /// An empty cache of at most `most` super blocks of each lane, `own_of_lane` of them set aside, for the data of `streams`.
    /// `own` are the super blocks set aside, `lanes` has them by lane.
    pub(super) fn new(
        spec: SlcSpec,
        streams: SlcStreams,
        [most, own_of_lane]: [u32; 2],
        lanes: Vec<SlcLane>,
        own: Vec<bool>,
        super_blocks: u32,
        rated: [u32; 2],
    ) -> SlcCache {
        let share = |of: f64| f64::from(most) * of;
        SlcCache {
            begins_at: spec.fold_above.map_or(u32::MAX, |above| libm::ceil(share(above)) as u32),
            ends_at: libm::floor(share(spec.fold_below)) as u32,
            spec,
            stream: streams.first,
            by_handle: streams.by_handle,
            most,
            own_of_lane,
            lanes,
            own,
            cycles: vec![0; super_blocks as usize],
            rated,
            counters: SlcCounters::default(),
        }
    }

    /// Streams of the data written to the cache.
    pub(crate) fn streams(&self) -> impl Iterator<Item = Stream> + '_ {
        let one = self.by_handle.is_empty().then_some(self.stream);
        one.into_iter().chain(self.by_handle.iter().flatten().copied())
    }

    /// Whether `super_block` is set aside: its erase frees no space for native data.
    #[inline]
    pub fn owns(&self, super_block: SuperBlock) -> bool {
        self.own.get(super_block.index()).is_some_and(|&own| own)
    }

    /// Whether blocks of the cache are set aside.
    pub(crate) fn owns_blocks(&self) -> bool {
        !self.own.is_empty()
    }

    /// Whether a closed super block of `lane` is borrowed.
    pub(super) fn has_borrowed(&self, lane: &SlcLane) -> bool {
        lane.closed.iter().any(|&block| !self.owns(block))
    }

    /// Most super blocks of all lanes.
    pub fn most_blocks(&self) -> u64 {
        self.lanes.len() as u64 * u64::from(self.most)
    }

    /// Super blocks of all lanes in SLC mode.
    pub fn used_blocks(&self) -> u64 {
        self.lanes.iter().map(|lane| u64::from(lane.used)).sum()
    }

    /// Cycles of all super blocks in SLC mode.
    pub fn cycles(&self) -> u64 {
        self.cycles.iter().map(|&cycles| u64::from(cycles)).sum()
    }

    /// Native cycles that wear a super block of `cycles` cycles as much: one in SLC mode counts by the rated cycles.
    pub(super) fn equivalent(&self, super_block: SuperBlock, cycles: u32) -> u32 {
        let slc = self.cycles[super_block.index()];
        let [native, in_slc] = self.rated.map(u64::from);
        cycles - slc + (u64::from(slc) * native / in_slc) as u32
    }

    /// Whether a lane with `open` blocks that are being written has as few in use as end its folding.
    pub(super) fn is_folded(&self, lane: &SlcLane, open: u32) -> bool {
        lane.closed.len() as u32 + open <= self.ends_at
    }
}
