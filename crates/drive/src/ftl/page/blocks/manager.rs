//! Block manager: free, open and closed super blocks, wear, victim candidates, mapping state.

use crate::ftl::counters::FtlCounters;
use crate::ftl::layout::{Capacity, Layout};
use crate::ftl::page::blocks::cell_modes::CellModes;
use crate::ftl::page::blocks::free_block::FreeBlock;
use crate::ftl::page::blocks::lane_balance::ImbalanceBound;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::spare_seen::SpareSeen;
use crate::ftl::page::blocks::thresholds::FtlConfig;
use crate::ftl::page::blocks::wear::Wear;
use crate::ftl::page::blocks::write_streams::{LaneBlocks, Stream, WritePointer, WriteStreams};
use crate::ftl::page::mapping::state::MappingState;
use crate::ftl::page::mapping::table::Map;
use crate::ftl::page::reprogram::Reprogramming;
use crate::ftl::page::separation::Hotness;
use crate::ftl::page::slc::{KeptSlc, SlcCache};
use crate::memory::prefetch;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;
use interpulse_flash::cell_mode::CellMode;

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
    pub(super) overfull: Vec<bool>,
    /// Lanes may hold different amounts of valid data, as the host places it.
    pub(crate) lanes_differ: bool,
    /// Host programs assigned since the last count of lanes.
    pub(super) programs_since_count: u32,
    /// Present while the total of valid units stays constant.
    pub(super) level: Option<ImbalanceBound>,
    pub(crate) reprogramming: Option<Box<Reprogramming>>,
    pub(crate) slc: Option<Box<SlcCache>>,
    /// SLC cache of a state between runs.
    pub(crate) kept_slc: Option<Box<KeptSlc>>,
    /// Free super block that a stream opens in a run.
    pub(crate) free_block: FreeBlock,
    /// Whether the die of each lane has failed; empty while none has.
    pub(crate) dead: Vec<bool>,
    /// Lanes of dies that have failed.
    pub(crate) dead_lanes: u32,
    pub(super) rng: Rng,
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
                levels_wear: false,
                wear_limit: None,
                leveled: 0,
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
            lanes_differ: false,
            programs_since_count: 0,
            level: None,
            reprogramming: None,
            slc: None,
            kept_slc: None,
            free_block: FreeBlock::ErasedFirst,
            dead: Vec::new(),
            dead_lanes: 0,
            rng,
            counters: FtlCounters::default(),
            spare_seen: SpareSeen::default(),
            config,
            layout,
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

    /// Blocks closed since `super_block` was closed last.
    pub fn age(&self, super_block: SuperBlock) -> u64 {
        self.clock - self.closed[super_block.index()]
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

    /// Configuration of the FTL.
    pub fn config(&self) -> &FtlConfig {
        &self.config
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
            self.host_program_assigned(lane, place.units(&self.layout));
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
