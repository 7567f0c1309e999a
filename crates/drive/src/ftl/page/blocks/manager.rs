//! Block manager: free, open and closed super blocks, wear, victim candidates, mapping state.

use crate::ftl::counters::FtlCounters;
use crate::ftl::page::blocks::cell_modes::CellModes;
use crate::ftl::page::blocks::lane_balance::ImbalanceBound;
use crate::ftl::page::blocks::layout::{Capacity, Layout};
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::spare_seen::SpareSeen;
use crate::ftl::page::blocks::write_streams::{LaneBlocks, Stream, WritePointer, WriteStreams};
use crate::ftl::page::gc::victim::{BlockHistory, GcPolicy, ThresholdBase};
use crate::ftl::page::mapping::state::MappingState;
use crate::ftl::page::mapping::table::Map;
use crate::ftl::page::reprogram::Reprogramming;
use crate::ftl::page::separation::Hotness;
use crate::ftl::page::slc::SlcCache;
use crate::memory::prefetch;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::{Rng, vectorised};
use interpulse_flash::cell_mode::CellMode;

/// Configuration of the FTL.
#[derive(Clone, Debug, PartialEq)]
pub struct FtlConfig {
    /// Logical capacity in units.
    pub logical_units: u32,
    /// Translation pages on flash, one unit each; none where the full table is in memory.
    pub translation_pages: u32,
    /// Victim policy.
    pub policy: GcPolicy,
    /// Garbage collection of a lane runs while it has fewer free super blocks than this.
    pub soft_free: u32,
    /// Replaces `soft_free` by a count of free pages; `None` where blocks are counted.
    pub soft_pages: Option<SoftPages>,
    /// Host data may not take the last this many free super blocks of a lane.
    pub hard_free: u32,
}

impl FtlConfig {
    /// Raises the thresholds by `blocks` of each lane that an SLC cache sets aside, for preconditioning, or (`raise` false) lowers
    /// them by these when the cache takes them.
    pub(crate) fn set_aside(&mut self, layout: &Layout, blocks: u32, raise: bool) {
        let pages = blocks * layout.programs_per_block * layout.pages_per_program;
        let by = |of: &mut u32, n: u32| *of = if raise { *of + n } else { *of - n };
        by(&mut self.soft_free, blocks);
        by(&mut self.hard_free, blocks);
        if let Some(soft) = &mut self.soft_pages {
            by(&mut soft.least, pages);
        }
    }

    /// Entries of the map: units of the host, then translation pages.
    pub fn mapped_units(&self) -> u32 {
        self.logical_units + self.translation_pages
    }
}

/// Converts a threshold share to super blocks of a lane.
pub fn threshold_blocks(base: ThresholdBase, share: f64, blocks: u32, spare_blocks: f64) -> u32 {
    let of = match base {
        ThresholdBase::Blocks => f64::from(blocks),
        ThresholdBase::Spare => spare_blocks,
    };
    libm::round(share * of) as u32
}

/// Soft threshold in free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftPages {
    /// Fewest free pages of each plane, those of open blocks included.
    pub least: u32,
    /// A running count, reduced by each programmed page and increased by a block per erase: pages passed over stay in it.
    pub keeps_passed_over: bool,
}

/// Blocks per 32-bit partial sum.
const SUMMED: usize = 1 << 11;
const _: () = assert!(Map::MAX_UNITS_PER_BLOCK as usize * SUMMED <= 1 << 31);

vectorised! {
    /// Valid units of these blocks, by their weights.
    fn valid_units_of(weights: &[u32]) -> u64 => add_up
}

#[inline(always)]
fn add_up(weights: &[u32]) -> u64 {
    let sum = |blocks: &[u32]| u64::from(blocks.iter().map(|&w| w & !Map::NOT_A_CANDIDATE).sum::<u32>());
    weights.chunks(SUMMED).map(sum).sum()
}

/// Host programs per lane between counts of valid units per lane.
const COUNT_AFTER: u32 = 32;

/// P/E cycles of super blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Of the least worn block.
    pub fewest: u32,
    /// Of the most worn block.
    pub most: u32,
    /// Sum over all blocks.
    pub sum: u64,
}

impl Wear {
    /// Wear of blocks with these P/E cycles.
    pub fn of(cycles: &[u32]) -> Wear {
        let (fewest, most) = (cycles.iter().min(), cycles.iter().max());
        let sum = cycles.iter().map(|&c| u64::from(c)).sum();
        Wear { fewest: fewest.copied().unwrap_or(0), most: most.copied().unwrap_or(0), sum }
    }

    /// Combines the wear of two sets of blocks.
    #[must_use]
    pub fn and(self, other: Wear) -> Wear {
        let (fewest, most) = (self.fewest.min(other.fewest), self.most.max(other.most));
        Wear { fewest, most, sum: self.sum + other.sum }
    }
}

/// Blocks, wear and mapping state of one drive's FTL.
#[derive(Clone)]
pub struct BlockManager {
    /// Address layout.
    pub layout: Layout,
    pub(crate) units: MappingState,
    pub(crate) config: FtlConfig,
    pub(crate) streams: WriteStreams,
    pub(crate) lanes: Vec<LaneBlocks>,
    /// P/E cycles of each super block.
    pub cycles: Vec<u32>,
    /// Close number of each super block: blocks closed before it.
    pub(crate) closed: Vec<u64>,
    pub(crate) clock: u64,
    pub(crate) modes: CellModes,
    /// Capacity of the super blocks that relocated data goes to.
    pub(crate) gc_capacity: Capacity,
    /// Program operations of each super block that are assigned but not done.
    pub(crate) in_flight: Vec<u16>,
    /// Lanes that hold more than their share of valid data.
    overfull: Vec<bool>,
    /// Host programs assigned since the last count of lanes.
    programs_since_count: u32,
    /// Present while the total of valid units stays constant.
    level: Option<ImbalanceBound>,
    pub(crate) reprogramming: Option<Box<Reprogramming>>,
    pub(crate) slc: Option<Box<SlcCache>>,
    rng: Rng,
    /// FTL counters.
    pub counters: FtlCounters,
    /// Spare space at the victim choices of a run.
    pub(crate) spare_seen: SpareSeen,
}

impl BlockManager {
    /// Block manager over erased flash.
    pub fn new(layout: Layout, config: FtlConfig, rng: Rng) -> BlockManager {
        let map = Map::new(config.mapped_units(), layout.super_blocks(), layout.units_per_block);
        BlockManager::over(map, layout, config, rng)
    }

    /// Block manager with this map, otherwise as over erased flash.
    pub(crate) fn over(map: Map, layout: Layout, config: FtlConfig, rng: Rng) -> BlockManager {
        let blocks = layout.super_blocks();
        let none_open = WritePointer { block: SuperBlock(0), next_program: layout.programs_per_block };
        let streams = WriteStreams::of(config.translation_pages);
        let lanes = Lane::first(layout.lanes)
            .map(|lane| LaneBlocks {
                free: layout.blocks_of(lane).collect(),
                write_pointers: vec![none_open; streams.count()],
                passed_over: 0,
            })
            .collect();
        BlockManager {
            units: MappingState::new(map),
            streams,
            lanes,
            cycles: vec![0; blocks as usize],
            closed: vec![0; blocks as usize],
            clock: 0,
            modes: CellModes::new(blocks),
            gc_capacity: layout.capacity_in(CellMode::Native),
            in_flight: vec![0; blocks as usize],
            overfull: vec![false; layout.lanes as usize],
            programs_since_count: 0,
            level: None,
            reprogramming: None,
            slc: None,
            rng,
            counters: FtlCounters::default(),
            spare_seen: SpareSeen::default(),
            config,
            layout,
        }
    }

    /// Makes tables shareable that were not read from a file.
    pub fn share(&mut self) {
        self.units.share();
    }

    /// Copy of a block manager that no run has used, sharing memory where possible.
    pub fn another(&self) -> BlockManager {
        BlockManager {
            layout: self.layout.clone(),
            units: self.units.another(),
            config: self.config.clone(),
            streams: self.streams.clone(),
            lanes: self.lanes.clone(),
            cycles: self.cycles.clone(),
            closed: self.closed.clone(),
            modes: self.modes.clone(),
            in_flight: self.in_flight.clone(),
            overfull: self.overfull.clone(),
            level: None,
            reprogramming: self.reprogramming.clone(),
            slc: None,
            rng: self.rng.clone(),
            ..*self
        }
    }

    /// Prepares a preconditioned FTL for a run: resets counters, draws from the run's random stream.
    pub fn restart(&mut self, rng: Rng) {
        self.rng = rng;
        self.counters = FtlCounters::default();
        self.spare_seen = SpareSeen::default();
        self.count_lanes();
    }

    /// Separates host data by hotness and enables reprogramming, for a run after preconditioning.
    pub fn separate(&mut self, hotness: Option<Hotness>, reprogramming: Option<Reprogramming>) {
        let mode = if reprogramming.is_some() { CellMode::Mlc } else { CellMode::Native };
        let levels = hotness.as_ref().map_or(0, Hotness::levels);
        self.set_streams(WriteStreams::of(self.config.translation_pages).with_hot_levels(levels, mode));
        self.units.follow_hotness(hotness.map(Box::new));
        self.reprogramming = reprogramming.map(Box::new);
    }

    /// Sets the write streams of a run; the first two keep their open blocks.
    pub(crate) fn set_streams(&mut self, streams: WriteStreams) {
        let none_open = WritePointer { block: SuperBlock(0), next_program: self.layout.programs_per_block };
        let count = streams.count();
        self.lanes.iter_mut().for_each(|lane| lane.write_pointers.resize(count, none_open));
        self.streams = streams;
    }

    /// Whether dynamic allocation should give host data to a lane. Garbage collection keeps data in its lane, so lanes
    /// drift apart; without this check a small lane can fill up with valid data.
    #[inline]
    pub fn accepts_writes(&self, lane: Lane) -> bool {
        !self.overfull[lane.index()]
    }

    /// Finds the lanes that hold more valid data than the mean by over 1/64 of a lane's spare space, or by more than chance
    /// explains if that is more.
    pub(crate) fn count_lanes(&mut self) {
        self.programs_since_count = 0;
        let (valid, most) = self.lane_weights();
        self.overfull = valid.iter().map(|&v| v > most).collect();
        if let Some(level) = &mut self.level {
            level.update(&valid, most, self.layout.units_per_program);
        }
    }

    /// Recounts lanes if the result may have changed.
    fn recount_lanes(&mut self) {
        if !self.is_known_balanced() {
            self.count_lanes();
            return;
        }
        self.programs_since_count = 0;
        debug_assert!(
            {
                let (valid, most) = self.lane_weights();
                valid.iter().all(|&v| v <= most)
            },
            "a lane is overfull"
        );
    }

    /// States whether every write from now on replaces a valid unit, so that the total stays constant.
    pub(crate) fn keep_total(&mut self, keep: bool) {
        self.level = keep.then(ImbalanceBound::default);
    }

    /// Whether counting lanes would certainly find none overfull.
    #[inline]
    pub(crate) fn is_known_balanced(&self) -> bool {
        self.level.as_ref().is_some_and(ImbalanceBound::is_known)
    }

    /// Valid units of each lane, and the most that a lane may hold without being overfull.
    fn lane_weights(&self) -> (Vec<u64>, u64) {
        let blocks = self.layout.blocks as usize;
        let valid: Vec<u64> = self.map().weight.chunks(blocks).map(valid_units_of).collect();
        let mean = valid.iter().sum::<u64>() / u64::from(self.layout.lanes);
        let room = u64::from(self.layout.blocks) * u64::from(self.layout.units_per_block);
        let spare = room.saturating_sub(u64::from(self.config.mapped_units()) / u64::from(self.layout.lanes));
        // On a small drive chance alone spreads lanes further (a lane's valid count is about Poisson): calling half of them
        // overfull would leave their dies idle.
        let chance = (3 * mean.isqrt()).min(spare / 8);
        let most = mean + (spare / 64).max(chance).max(u64::from(self.layout.units_per_program));
        (valid, most)
    }

    /// Whether no lane is or becomes overfull while lanes are written in turn, `chunk` units at a time: a lane exceeds the
    /// mean by at most `chunk`, and the overfull margin grows with the total.
    pub(crate) fn stay_balanced(&self, chunk: u32) -> bool {
        let (valid, most) = self.lane_weights();
        let ahead = valid.iter().all(|&v| v + u64::from(chunk) <= most);
        ahead && chunk <= self.layout.units_per_program && self.overfull.iter().all(|overfull| !overfull)
    }

    /// Sets the host write pointer of `lane` after `programs` programs that [kept lanes
    /// balanced](BlockManager::stay_balanced).
    pub(crate) fn programs_assigned(&mut self, lane: Lane, pointer: WritePointer, programs: u32) {
        self.lanes[lane.index()].write_pointers[Stream::HOST.index()] = pointer;
        self.counters.consumed_host_pages +=
            u64::from(programs) * u64::from(self.layout.pages_per_program * self.layout.planes);
        self.programs_since_count =
            (self.programs_since_count + programs) % (COUNT_AFTER * self.layout.lanes);
    }

    /// Blocks closed since `super_block` was closed last.
    pub fn age(&self, super_block: SuperBlock) -> u64 {
        self.clock - self.closed[super_block.index()]
    }

    /// Super blocks of `lane` being emptied: written, not open, not candidates.
    pub fn being_collected(&self, lane: Lane) -> impl Iterator<Item = SuperBlock> {
        let (of, full) = (&self.lanes[lane.index()], self.layout.programs_per_block);
        let open =
            move |b: &SuperBlock| of.write_pointers.iter().any(|f| f.block == *b && f.next_program < full);
        let taken = self.layout.blocks_of(lane).filter(|&b| !self.map().is_candidate(b));
        taken.filter(move |&b| self.erase_frees(b) && !of.free.contains(&b) && !open(&b))
    }

    /// Mapping tables.
    #[inline]
    pub fn map(&self) -> &Map {
        self.units.map()
    }

    /// Hotness filter, if host data is separated.
    pub fn hotness(&self) -> Option<&Hotness> {
        self.units.hotness()
    }

    /// Writes `lpn` to unit `offset` of `super_block`, without time.
    #[inline]
    pub fn write(&mut self, lpn: Lpn, super_block: SuperBlock, offset: u32) {
        self.units.write(&self.layout, lpn, super_block, offset);
    }

    /// Writes `count` unmapped units from `lpn` on to units `offset` and after it of `super_block`, without time.
    #[inline]
    pub fn write_run(&mut self, lpn: Lpn, count: u32, super_block: SuperBlock, offset: u32) {
        self.units.write_run(lpn, count, super_block, offset);
    }

    /// Trims `lpn`, without time.
    pub fn discard(&mut self, lpn: Lpn) {
        self.units.discard(&self.layout, lpn);
    }

    /// Whether `super_block`, written since its erase, holds translation pages.
    pub(crate) fn holds_map(&self, super_block: SuperBlock) -> bool {
        // Drawn preconditioning leaves units that were overwritten without a number.
        let first = self.map().logical(self.layout.first_unit(super_block)).0;
        (self.config.logical_units..self.config.mapped_units()).contains(&first)
    }

    /// Configuration of the FTL.
    pub fn config(&self) -> &FtlConfig {
        &self.config
    }

    /// Keeps at least `blocks` free super blocks of a lane from host data, and collects before only they are left.
    pub(crate) fn reserve_for_relocation(&mut self, blocks: u32) {
        self.config.hard_free = self.config.hard_free.max(blocks);
        self.config.soft_free = self.config.soft_free.max(self.config.hard_free + 1);
    }

    /// Returns a victim just chosen that cannot be emptied now.
    pub fn reject_victim(&mut self, victim: SuperBlock) {
        self.units.set_candidate(victim, true);
        self.counters.gc_runs -= 1;
        self.counters.direct_gc_runs -= u64::from(self.map().valid_units(victim) == 0);
    }

    /// Assigns the next program operation of `stream` on `lane`; `None` if there is no block for it.
    #[inline]
    pub fn take_address(&mut self, lane: Lane, stream: Stream) -> Option<ProgramAddress> {
        let of = &mut self.lanes[lane.index()];
        let pointer = &mut of.write_pointers[stream.index()];
        if pointer.next_program == self.layout.programs_per_block {
            let reserve = if stream.relocates() { 0 } else { self.config.hard_free as usize };
            if of.free.len() <= reserve {
                return None;
            }
            let block = self.open(lane, stream)?;
            self.lanes[lane.index()].write_pointers[stream.index()] = WritePointer { block, next_program: 0 };
        }
        let pointer = &mut self.lanes[lane.index()].write_pointers[stream.index()];
        let mode = self.modes.of(pointer.block);
        let place = ProgramAddress::new(&self.layout, pointer.block, pointer.next_program, mode);
        pointer.next_program = self.layout.program_after(mode, place.program);
        self.in_flight[place.super_block.index()] += 1;
        let pages = u64::from(self.layout.pages_per_program_in(mode) * self.layout.planes);
        if stream.relocates() {
            self.counters.consumed_gc_pages += pages;
        } else if stream.is_map() {
            self.counters.map_consumed_pages += pages;
        } else {
            self.counters.consumed_host_pages += pages;
            self.programs_since_count += 1;
            if self.programs_since_count == COUNT_AFTER * self.layout.lanes {
                self.recount_lanes();
            }
            if let Some(level) = &mut self.level {
                level.give(lane, place.units(&self.layout));
            }
        }
        Some(place)
    }

    /// Prefetches what the next program of collection on `lane` and the erases of `victims` access: whole rounds of all
    /// lanes have passed since its last collection. Returns the block last open for collection.
    #[inline]
    pub(crate) fn fetch_for_collection(&self, lane: Lane, victims: &[SuperBlock]) -> SuperBlock {
        let WritePointer { block, next_program } =
            self.lanes[lane.index()].write_pointers[Stream::GC.index()];
        self.map().prefetch_valid(block, next_program * self.layout.units_per_program);
        prefetch(self.in_flight.as_ptr().wrapping_add(block.index()));
        victims.iter().for_each(|victim| prefetch(self.cycles.as_ptr().wrapping_add(victim.index())));
        block
    }

    /// Completes a program operation of `super_block`; closes the block after its last one.
    #[inline]
    pub fn program_done(&mut self, super_block: SuperBlock) {
        let left = &mut self.in_flight[super_block.index()];
        *left -= 1;
        if *left > 0 {
            return;
        }
        let (lane, _) = self.layout.lane_of(super_block);
        let open = self.lanes[lane.index()]
            .write_pointers
            .iter()
            .any(|f| f.block == super_block && f.next_program < self.layout.programs_per_block);
        if !open {
            self.close(super_block);
        }
    }

    /// Closes `super_block`: it may be collected and is not written until its next erase.
    pub(crate) fn close(&mut self, super_block: SuperBlock) {
        self.closed[super_block.index()] = self.clock;
        self.clock += 1;
        if self.slc.is_some() && self.modes.of(super_block) == CellMode::Slc {
            self.close_slc(super_block);
            return;
        }
        self.units.set_candidate(super_block, true);
    }

    /// Picks the next block of `lane` to empty and takes it out of the candidates; `None` if no block has anything to gain.
    ///
    /// A policy that ignores valid units may pick a full block, which is then moved like any other while some block has
    /// something to gain: FIFO would otherwise stop for ever at data that is never overwritten.
    pub fn choose_victim(&mut self, lane: Lane) -> Option<SuperBlock> {
        self.close_cleared(lane);
        self.choose_closed(lane).or_else(|| {
            // Unusable reprogramming candidates hold space that is needed now.
            if self.give_up_candidates(lane) { self.choose_closed(lane) } else { None }
        })
    }

    fn choose_closed(&mut self, lane: Lane) -> Option<SuperBlock> {
        let first = self.layout.first_block(lane);
        let of_lane = first..first + self.layout.blocks;
        let victim = self.config.policy.select(
            self.units.map(),
            BlockHistory { closed: &self.closed, clock: self.clock, cycles: &self.cycles },
            of_lane.clone(),
            self.layout.units_per_block,
            &mut self.rng,
        )?;
        // Moving what fills a super block of the destination gains nothing.
        let full = self.gc_capacity.block;
        if self.map().valid_units(victim) >= full {
            let lane = &self.map().weight[of_lane.start.index()..of_lane.end.index()];
            if lane.iter().all(|&w| w >= full) {
                return None;
            }
        }
        self.units.set_candidate(victim, false);
        self.counters.gc_runs += 1;
        self.counters.direct_gc_runs += u64::from(self.map().valid_units(victim) == 0);
        Some(victim)
    }

    /// Returns an erased super block to the free list.
    pub fn erased(&mut self, super_block: SuperBlock) {
        self.units.erase(&self.layout, super_block);
        debug_assert_eq!(self.in_flight[super_block.index()], 0);
        let (lane, _) = self.layout.lane_of(super_block);
        self.cycles[super_block.index()] += 1;
        let mode = self.modes.of(super_block);
        self.modes.set(super_block, CellMode::Native);
        self.counters.erases += 1;
        if self.slc.is_some() && mode == CellMode::Slc && self.slc_erased(super_block) {
            return;
        }
        self.lanes[lane.index()].free.push_back(super_block);
    }

    /// Invalidates the flash copy `ppu` of an overwritten or trimmed unit.
    #[inline]
    pub fn forget_flash(&mut self, ppu: Ppu) {
        self.units.invalidate_copy(&self.layout, ppu);
    }

    /// Adds program/erase cycles to every super block.
    pub fn set_pe_cycles(&mut self, cycles: u32) {
        self.cycles.iter_mut().for_each(|c| *c = c.saturating_add(cycles));
    }

    /// Takes `super_block` as a victim, if it is closed and not being emptied.
    pub fn take_victim(&mut self, super_block: SuperBlock) -> bool {
        let may = self.map().is_candidate(super_block);
        if may {
            self.units.set_candidate(super_block, false);
            self.counters.gc_runs += 1;
        }
        may
    }

    /// P/E cycles over all super blocks, preconditioning included.
    pub fn wear(&self) -> Wear {
        Wear::of(&self.cycles)
    }

    /// Bytes of memory that the maps of such an FTL take.
    pub fn map_bytes(layout: &Layout, logical_units: u32) -> u64 {
        let blocks = u64::from(layout.super_blocks());
        4 * u64::from(logical_units)
            + 4 * layout.units()
            + blocks * (u64::from(layout.units_per_block) / 8 + 32)
    }

    /// Program operations done in each super block, to set up the dies after preconditioning.
    pub fn programs_done(&self) -> Vec<u32> {
        let mut done = vec![self.layout.programs_per_block; self.layout.super_blocks() as usize];
        for lane in &self.lanes {
            lane.free.iter().for_each(|&b| done[b.index()] = 0);
            for f in lane.write_pointers.iter().filter(|f| f.next_program < self.layout.programs_per_block) {
                done[f.block.index()] = f.next_program;
            }
        }
        done
    }
}
