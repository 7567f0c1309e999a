//! Super blocks of an SLC cache in the block manager: opening, closing, choice of the next to fold, wear, recovery.

use super::cache::{SlcCache, SlcLane, SlcStreams};
use super::{SlcSpec, Space};
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::{Origin, Stream, StreamSpec, WritePointer};
use crate::ftl::page::mapping::relocation::Relocation;
use crate::numbers::{Lane, SuperBlock};
use crate::spec::DriveSpec;
use interpulse_flash::cell_mode::CellMode;

impl BlockManager {
    /// SLC cache, if the drive has one.
    #[inline]
    pub fn slc(&self) -> Option<&SlcCache> {
        self.slc.as_deref()
    }

    /// Starts the cache: empty, with the blocks that preconditioning has left free for it, or as an earlier run has left it.
    pub(crate) fn begin_slc(&mut self, drive: &DriveSpec, spec: SlcSpec) {
        let mut add =
            |name: String| self.streams.add(StreamSpec { name, origin: Origin::Host, mode: CellMode::Slc });
        let handles = 0..drive.ftl.placement.handles();
        let by_handle: Vec<Option<Stream>> = handles
            .map(|handle| spec.admission.admits(handle).then(|| add(format!("slc-handle-{handle}"))))
            .collect();
        let first = by_handle.iter().flatten().next().copied().unwrap_or_else(|| add("slc".to_string()));
        let none_open = WritePointer { block: SuperBlock(0), next_program: self.layout.programs_per_block };
        let count = self.streams.count();
        let blocks = self.layout.super_blocks() as usize;
        let (most, owned) = (
            spec.blocks_of_lane(&drive.geometry, drive.ftl.multi_plane),
            spec.own_blocks_of_lane(&drive.geometry, drive.ftl.multi_plane),
        );
        let kept = self.kept_slc.take().map(|kept| *kept);
        let mut own = vec![false; if owned > 0 { blocks } else { 0 }];
        let mut lanes = vec![SlcLane::default(); self.layout.lanes as usize];
        for (l, (lane, of)) in self.lanes.iter_mut().zip(&mut lanes).enumerate() {
            lane.write_pointers.resize(count, none_open);
            let erased = kept.as_ref().map_or(owned, |kept| kept.lanes[l].0);
            of.own = lane.free.drain(..erased as usize).collect();
            of.own.iter().for_each(|block| own[block.index()] = true);
        }
        if let Some(kept) = &kept {
            own.clone_from(&kept.own);
        }
        self.config.set_aside(&self.layout, owned, false);
        let native = drive.part.endurance;
        let rated = [native, drive.part.slc_mode.map_or(native, |of| of.endurance)];
        let super_blocks = self.layout.super_blocks();
        let streams = SlcStreams { first, by_handle };
        let mut slc = SlcCache::new(spec, streams, [most, owned], lanes, own, super_blocks, rated);
        if let Some(kept) = kept {
            self.resume_slc(&mut slc, kept);
        }
        self.slc = Some(Box::new(slc));
    }

    fn slc_mut(&mut self) -> &mut SlcCache {
        self.slc.as_deref_mut().expect("the drive has an SLC cache")
    }

    /// Share of `lane` in the cache.
    pub(crate) fn slc_lane(&mut self, lane: Lane) -> &mut SlcLane {
        &mut self.slc_mut().lanes[lane.index()]
    }

    /// Units of a program in SLC mode, if the drive has such a cache.
    pub(crate) fn slc_program(&self) -> Option<u32> {
        self.slc().map(|slc| self.capacity(slc.stream).program)
    }

    fn slc_is_open(&self, lane: Lane, stream: Stream) -> bool {
        let pointer = self.lanes[lane.index()].write_pointers[stream.index()];
        pointer.next_program < self.layout.programs_per_block
    }

    /// Whether the cache can take a program on `lane`.
    #[inline]
    pub(crate) fn slc_has_room(&self, lane: Lane) -> bool {
        self.slc().is_some_and(|slc| self.slc_has_room_for(slc, lane, slc.stream))
    }

    /// Whether `slc` can take a program of its `stream` on `lane`.
    #[inline]
    pub(crate) fn slc_has_room_for(&self, slc: &SlcCache, lane: Lane, stream: Stream) -> bool {
        self.slc_is_open(lane, stream) || self.slc_may_open(slc, lane)
    }

    fn slc_may_open(&self, slc: &SlcCache, lane: Lane) -> bool {
        let of = &slc.lanes[lane.index()];
        slc.spec.may_open(&Space {
            used: of.used,
            most: slc.most,
            own: of.own.len() as u32,
            to_spare: self.free_blocks(lane).saturating_sub(self.config.soft_free),
        })
    }

    /// Opens a super block of the cache for `stream` on `lane`, which has room, unless one is open.
    pub(crate) fn open_slc(&mut self, lane: Lane, stream: Stream) {
        if self.slc_is_open(lane, stream) {
            return;
        }
        let own = self.slc_mut().lanes[lane.index()].own.pop_front();
        let block = match own {
            Some(block) => {
                self.modes.set(block, CellMode::Slc);
                block
            }
            None => self.open(lane, stream).expect("the lane has room"),
        };
        self.lanes[lane.index()].write_pointers[stream.index()] = WritePointer { block, next_program: 0 };
        let slc = self.slc_mut();
        slc.counters.opened_blocks += 1;
        let begins_at = slc.begins_at;
        let of = &mut slc.lanes[lane.index()];
        of.used += 1;
        of.folding |= of.used >= begins_at;
    }

    /// Notes that host data of the cache goes to a native block of `lane`.
    #[cold]
    pub(crate) fn slc_overflows(&mut self, lane: Lane, units: u32) {
        let slc = self.slc_mut();
        slc.counters.overflow_units += u64::from(units);
        slc.lanes[lane.index()].may_be_empty = true;
    }

    /// Closes a super block of the cache.
    pub(crate) fn close_slc(&mut self, super_block: SuperBlock) {
        let (lane, _) = self.layout.lane_of(super_block);
        self.slc_mut().lanes[lane.index()].closed.push(super_block);
    }

    /// Next super block of `lane` to fold, the one with the fewest valid units and of these the oldest; with `borrowed`, of
    /// the borrowed ones.
    pub(crate) fn slc_victim(&self, lane: Lane, borrowed: bool) -> Option<SuperBlock> {
        let slc = self.slc().expect("the drive has an SLC cache");
        let closed = &slc.lanes[lane.index()].closed;
        let among = closed.iter().copied().filter(|&block| !(borrowed && slc.owns(block)));
        among.min_by_key(|&block| self.map().valid_units(block))
    }

    /// Takes a borrowed super block of `lane`, closed, whose valid units fit the room of collection.
    pub(crate) fn take_borrowed_slc(&mut self, lane: Lane) -> Option<SuperBlock> {
        self.slc()?;
        let block = self.slc_victim(lane, true)?;
        (self.map().valid_units(block) <= self.gc_room(lane) && self.take_slc_victim(block)).then_some(block)
    }

    /// Whether `super_block` of the cache is closed and not chosen for folding.
    pub(crate) fn is_closed_slc(&self, super_block: SuperBlock) -> bool {
        let (lane, _) = self.layout.lane_of(super_block);
        self.slc.as_ref().is_some_and(|slc| slc.lanes[lane.index()].closed.contains(&super_block))
    }

    /// Takes `super_block` as the next to fold, if it is one of the cache that is closed.
    pub(crate) fn take_slc_victim(&mut self, super_block: SuperBlock) -> bool {
        let closed = self.is_closed_slc(super_block);
        if closed {
            let (lane, _) = self.layout.lane_of(super_block);
            let empty = self.map().valid_units(super_block) == 0;
            let slc = self.slc_mut();
            slc.counters.folded_blocks += 1;
            slc.counters.empty_blocks += u64::from(empty);
            slc.lanes[lane.index()].closed.retain(|&block| block != super_block);
        }
        closed
    }

    /// Notes that another block without wear has the number of `super_block`.
    pub(crate) fn block_replaced(&mut self, super_block: SuperBlock) {
        self.cycles[super_block.index()] = 0;
        if let Some(slc) = &mut self.slc {
            slc.cycles[super_block.index()] = 0;
        }
    }

    /// Super blocks of each lane that the cache sets aside.
    pub(crate) fn set_aside_of_lane(&self) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.own_of_lane)
    }

    /// Whether the folding of `lane` that began at a share of blocks in use goes on.
    pub(crate) fn slc_folds_on(&mut self, lane: Lane) -> bool {
        let slc = self.slc().expect("the drive has an SLC cache");
        let open = slc.streams().filter(|&stream| self.slc_is_open(lane, stream)).count() as u32;
        let of = &slc.lanes[lane.index()];
        let folding = of.folding && !slc.is_folded(of, open);
        self.slc_mut().lanes[lane.index()].folding = folding;
        folding
    }

    /// Takes an erased super block of the cache back; true if it is set aside.
    pub(crate) fn slc_erased(&mut self, super_block: SuperBlock) -> bool {
        let (lane, _) = self.layout.lane_of(super_block);
        let slc = self.slc_mut();
        slc.counters.slc_erases += 1;
        slc.cycles[super_block.index()] += 1;
        let owns = slc.owns(super_block);
        let of = &mut slc.lanes[lane.index()];
        of.used -= 1;
        if owns {
            of.own.push_back(super_block);
        }
        owns
    }

    /// Counts those of the units `moved` by a native program that come from the cache.
    pub(super) fn count_folded(&mut self, moved: &[Relocation]) {
        let in_cache = |unit: &&Relocation| self.modes.of(self.layout.block_of(unit.source)) == CellMode::Slc;
        let folded = moved.iter().filter(in_cache).count() as u64;
        let counters = &mut self.slc_mut().counters;
        counters.folded_units += folded;
        counters.fold_programs += u64::from(folded > 0);
    }

    /// P/E cycles of a super block in native ones, for trains, errors and the eligibility to be suspended.
    #[inline]
    pub(crate) fn wear_of(&self, super_block: SuperBlock) -> u32 {
        let cycles = self.cycles[super_block.index()];
        match &self.slc {
            None => cycles,
            Some(slc) => slc.equivalent(super_block, cycles),
        }
    }

    /// Whether an erase of `super_block` frees space for native data.
    #[inline]
    pub(crate) fn erase_frees(&self, super_block: SuperBlock) -> bool {
        self.slc.as_ref().is_none_or(|slc| !slc.owns(super_block))
    }

    /// Restores the cache after a power cut; lanes, candidates and modes are restored as those of other blocks.
    pub(crate) fn restore_slc(&mut self, programs: &[u32], broken: &[bool]) {
        let mut slc = self.slc.take().expect("the drive has an SLC cache");
        for lane in Lane::first(self.layout.lanes) {
            let blocks = &mut self.lanes[lane.index()];
            let open: Vec<SuperBlock> = slc
                .streams()
                .map(|stream| blocks.write_pointers[stream.index()])
                .filter(|pointer| pointer.next_program < self.layout.programs_per_block)
                .map(|pointer| pointer.block)
                .collect();
            let of = &mut slc.lanes[lane.index()];
            *of = SlcLane::default();
            if !slc.own.is_empty() {
                let (own, free) = blocks.free.iter().partition(|block| slc.own[block.index()]);
                (of.own, blocks.free) = (own, free);
            }
            let in_mode = self.layout.blocks_of(lane).filter(|&b| self.modes.of(b) == CellMode::Slc);
            for block in in_mode.collect::<Vec<_>>() {
                of.used += 1;
                self.units.set_candidate(block, false);
                if programs[block.index()] > 0 && !broken[block.index()] && !open.contains(&block) {
                    of.closed.push(block);
                }
            }
            of.closed.sort_by_key(|block| self.closed[block.index()]);
        }
        self.slc = Some(slc);
    }
}
