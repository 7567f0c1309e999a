//! Page-mapped FTL: components, start and end of a run.

use crate::audit::VersionAudit;
use crate::cache::Cache;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::program_progress::block_states;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::faults::injected::InjectedFaults;
use crate::ftl::page::formatting::Formatting;
use crate::ftl::page::gc::copyback::Copybacks;
use crate::ftl::page::gc::state::{DestinationKind, GcState, GcWindow, Rewritten, Victim};
use crate::ftl::page::gc::synthetic::budget::SyntheticPrograms;
use crate::ftl::page::mapping::cached::CachedMap;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::state::StaleCopyPolicy;
use crate::ftl::page::placement::PlacementPolicy;
use crate::ftl::page::placement::handles::Handles;
use crate::ftl::page::placement::lane_selector::LaneSelector;
use crate::ftl::page::placement::stripe::Allocation;
use crate::ftl::page::power_loss::metadata_region::MetadataRegion;
use crate::ftl::page::power_loss::state::PowerLossState;
use crate::ftl::page::reprogram::Reprogramming;
use crate::ftl::page::separation::queues::HotnessQueues;
use crate::ftl::page::slc::{Folding, SlcLists};
use crate::ftl::page::wear::bad_blocks::BadBlocks;
use crate::ftl::page::wear::before;
use crate::ftl::page::write_back::in_flight::InFlight;
use crate::ftl::page::write_back::queues::{HostLists, WriteBack};
use crate::ftl::page::write_back::super_word_line::SuperWordLine;
use crate::numbers::{Lane, Lpn};
use crate::owner::Owner;
use crate::spec::{DriveSpec, UnmappedReads};
use interpulse_engine::{Duration, ResourceId, Streams};
use interpulse_flash::die::Die;
use interpulse_flash::nand::txn::{Kind, Txn};
use std::collections::VecDeque;

/// Timers of the FTL.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// Patrol read.
    pub patrol: ResourceId,
    /// Checkpoints.
    pub checkpoint: ResourceId,
    /// Idle time, with an SLC cache.
    pub idle: ResourceId,
}

/// The FTL of one drive.
pub struct PageFtl {
    /// Mapping state, free and open blocks, wear, counters.
    pub(crate) blocks: BlockManager,
    pub(crate) write_back: WriteBack,
    pub(crate) placement: LaneSelector,
    pub(crate) lists: HostLists,
    /// Reclaim unit handles, if the host places its data.
    pub(crate) handles: Option<Box<Handles>>,
    pub(crate) imposed: Option<SyntheticPrograms>,
    /// Buffer for the pages that a synthetic program reads.
    pub(crate) copied: Vec<u32>,
    pub(crate) collection: GcState,
    /// Pages to be moved by copyback.
    pub(crate) copyback: Option<Box<Copybacks>>,
    /// Idle time, with an SLC cache.
    pub(crate) folding: Option<Box<Folding>>,
    /// GC window, for an array.
    pub(crate) window: GcWindow,
    pub(crate) jobs: InFlight,
    /// Host page reads in flight by super block, which prevent its erase while they may be repeated. Empty where no read
    /// fails.
    pub(crate) readers: Vec<u16>,
    pub(crate) rewritten: Rewritten,
    /// Age of data at which its block is rewritten.
    pub(crate) refresh_after: Option<Duration>,
    /// Difference in P/E cycles within a lane that triggers static wear levelling.
    pub(crate) wear_gap: Option<u32>,
    /// Endurance and bad blocks, if blocks can fail.
    pub(crate) bad_blocks: Option<Box<BadBlocks>>,
    /// Whether page reads of the host are followed from their start to their end: they may have to be repeated, or find data
    /// that a fault has lost.
    pub(crate) follows_reads: bool,
    /// Whether admissions to the cache are followed: by the writes that wait for programs, or by faults that have lost data.
    pub(crate) follows_admissions: bool,
    /// Injected faults, if the configuration has any.
    pub(crate) injected: Option<Box<InjectedFaults>>,
    /// Bytes of a mapping unit.
    pub(crate) unit_bytes: u64,
    pub(crate) metadata: Option<Box<MetadataRegion>>,
    pub(crate) residency: Residency,
    pub(crate) timers: Timers,
    /// Position of its namespace on the drive; zero on a drive without namespaces.
    pub(crate) namespace: u32,
    pub(crate) outcomes: VecDeque<Outcome>,
    /// Blocks that a format erases.
    pub(crate) formatting: Option<Box<Formatting>>,
    pub(crate) unmapped_reads: UnmappedReads,
    /// The run has ended: only work that a request needs begins.
    pub(crate) closed: bool,
}

impl PageFtl {
    /// FTL of a drive with the checked `spec`, over `tables`, with random numbers of `streams`.
    pub fn new(
        spec: &DriveSpec,
        mut blocks: BlockManager,
        dies: &[Die],
        streams: &Streams,
        timers: Timers,
    ) -> PageFtl {
        blocks.restart(streams.stream("gc", 0));
        let mut bad_blocks = BadBlocks::new(spec, &blocks.layout, blocks.wear().sum, streams);
        if let Some(wear) = spec.wear_before {
            before::draw(spec, wear, &mut blocks, bad_blocks.as_deref_mut(), streams);
        }
        blocks.free_block = spec.ftl.free_block;
        let hot = spec.ftl.hotness.levels();
        if let Some(hotness) = spec.ftl.hotness.filter(&blocks.layout) {
            let layers = spec.part.layers;
            let reprogramming =
                spec.ftl.reprogram.map(|of| Reprogramming::new(of, &blocks.layout, hot, layers));
            let tears = spec.power_loss.is_some() && !spec.cache.protected;
            let reprogramming = reprogramming.map(|of| of.restricted(tears));
            blocks.separate(Some(hotness), reprogramming);
        }
        let persistent = spec.ftl.placement.persistently_isolated();
        let groups = spec.ftl.placement.groups();
        let mut handles =
            (!persistent.is_empty()).then(|| Box::new(Handles::new(&persistent, groups, &mut blocks)));
        if let Some(slc) = spec.ftl.slc {
            blocks.begin_slc(spec, slc);
        }
        if let Some(handles) = &mut handles {
            // Behind the cache, which lowers the thresholds by the blocks that it takes.
            blocks.reserve_for_relocation(PlacementPolicy::relocation_streams(&persistent));
            handles.follow_slc(blocks.slc().map_or(&[], |slc| &slc.by_handle));
        }
        let layout = &blocks.layout;
        let (lanes, super_blocks) = (layout.lanes, layout.super_blocks());
        let stripe = spec.stripe().expect("the spec has been checked");
        let slots = spec.cache.slots(&spec.geometry, &spec.ftl) as u32;
        let gathers = spec.ftl.allocation == Allocation::SuperWordLine;
        let lists = match &stripe {
            Some(_) => lanes,
            None if gathers => SuperWordLine::lists(layout),
            None => 1,
        } * spec.ftl.lists();
        let homes = match (spec.ftl.gc.imposes(), spec.loses_cache()) {
            (true, _) => StaleCopyPolicy::Reused,
            (false, true) => StaleCopyPolicy::Kept,
            (false, false) => StaleCopyPolicy::Forgotten,
        };
        let record = spec.power_loss.map(|_| {
            let (states, page) = (block_states(&blocks, dies), spec.part.page_size.get());
            let protected = spec.cache.protected;
            let cached = spec.ftl.mapping.cached().is_some();
            let first = Lpn(if cached { blocks.config().logical_units } else { 0 });
            let units = blocks.layout.units();
            Box::new(PowerLossState::new(blocks.map(), first, states, units, slots, page, protected))
        });
        let versions = match spec.power_loss {
            Some(_) => VersionAudit::for_power_loss(spec.loses_cache()),
            None => VersionAudit::new(spec.audit_sample),
        };
        let errors = spec.nand.errors.as_ref();
        let (program, cached) = (blocks.capacity(Stream::HOST).program, blocks.slc_program());
        let write_back = WriteBack::new(spec, stripe, cached.unwrap_or(program), lists, slots);
        let worth = [write_back.worth_starting, if write_back.worth_starting == 1 { 1 } else { program }];
        let lists_of = match spec.ftl.slc {
            Some(slc) if hot == 0 && handles.is_none() => {
                HostLists::BySize(SlcLists::new(slc.largest_units(&spec.geometry), worth))
            }
            _ if hot > 0 || handles.is_some() => {
                let classes = spec.ftl.data_classes();
                HostLists::ByClass(Box::new(HotnessQueues::new(classes, lists, slots)))
            }
            _ if gathers => HostLists::ByPage(SuperWordLine::new(&blocks.layout, slots)),
            _ if write_back.stripe.is_some() => HostLists::ByLane,
            _ => HostLists::One,
        };
        let destination = if spec.ftl.slc.is_some() && handles.is_some() {
            DestinationKind::FoldedByHandle
        } else if spec.ftl.slc.is_some() {
            DestinationKind::Folded
        } else if handles.is_some() {
            DestinationKind::ByHandle
        } else if spec.ftl.mapping.cached().is_some() {
            DestinationKind::WithTranslationPages
        } else if spec.faults.is_some() {
            DestinationKind::WithFailures
        } else {
            DestinationKind::OneStream
        };
        let mut collection =
            GcState::new(lanes, spec.ftl.gc_depth, spec.nand.multi_block.blocks, destination);
        for (lane, of) in Lane::first(lanes).zip(&mut collection.lanes) {
            of.victims.extend(blocks.being_collected(lane).map(|of| Victim::new(of, blocks.holds_map(of))));
        }
        blocks.units.begin(Cache::new(slots, lists), homes, versions, record);
        let injected = InjectedFaults::new(spec, &blocks, streams);
        PageFtl {
            placement: LaneSelector::new(
                lanes,
                spec.geometry.cache_pages > 0 && spec.ftl.data_classes() == 1,
            ),
            lists: lists_of,
            handles,
            imposed: (spec.ftl.gc.imposed())
                .map(|of| SyntheticPrograms::new(*of, lanes, blocks.layout.programs_per_block, streams)),
            copied: Vec::new(),
            collection,
            copyback: spec.ftl.copyback.map(|of| Box::new(Copybacks::new(of, &blocks.layout))),
            folding: spec.ftl.slc.map(|slc| Box::new(Folding::new(slc.idle_delay, timers.idle))),
            window: GcWindow::default(),
            jobs: InFlight::default(),
            readers: vec![0; if errors.is_some() { super_blocks as usize } else { 0 }],
            rewritten: Rewritten::default(),
            refresh_after: errors.and_then(|e| e.refresh_after),
            wear_gap: spec.ftl.wear_gap,
            bad_blocks,
            follows_reads: spec.follows_reads(),
            follows_admissions: write_back.writes_through() || injected.is_some(),
            injected,
            write_back,
            unit_bytes: spec.geometry.unit_bytes,
            metadata: spec
                .power_loss
                .map(|of| Box::new(MetadataRegion::new(of.checkpoint_every, super_blocks as usize))),
            residency: spec.ftl.mapping.cached().map_or(Residency::Full, |of| {
                Residency::Cached(Box::new(CachedMap::new(
                    of,
                    &blocks,
                    spec.geometry.unit_bytes,
                    spec.host.queue_weights.len(),
                )))
            }),
            timers,
            namespace: spec.place.namespace,
            outcomes: VecDeque::new(),
            formatting: None,
            unmapped_reads: spec.ftl.unmapped_reads,
            closed: false,
            blocks,
        }
    }

    /// Starts background work: patrol read and checkpoints.
    pub fn start(&mut self, flash: &mut Flash) {
        self.start_patrol(flash);
        self.arm_checkpoint(flash);
        // A handle or level may need a block on a lane that no program of another one has woken.
        let (all, by_class) = (self.handles.is_some(), matches!(self.lists, HostLists::ByClass(_)));
        let lanes = Lane::first(self.blocks.layout.lanes);
        for lane in lanes.filter(|_| by_class) {
            if all || self.blocks.free_blocks(lane) <= self.blocks.config().hard_free {
                self.advance_gc(flash, lane);
            }
        }
    }

    /// Ends the run: only work that a request needs begins.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The write cache.
    pub fn cache(&self) -> &Cache {
        &self.blocks.units.cache
    }

    /// Blocks rewritten for age or reads.
    pub fn rewritten(&self) -> Rewritten {
        self.rewritten
    }

    /// Next outcome, in order.
    #[inline]
    pub fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Completes a program; true if it freed cache slots.
    #[inline(always)]
    pub fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        if self.bad_blocks.is_some() {
            return self.settle_program(flash, txn);
        }
        self.program_succeeded(flash, txn)
    }

    #[inline(always)]
    pub(crate) fn program_succeeded(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        match Owner::of(txn) {
            Owner::Program(job) if txn.kind == Kind::HostProgram => {
                self.host_program_done(flash, job);
                return true;
            }
            Owner::Program(job) => self.gc_program_done(flash, job),
            Owner::Metadata(group) => self.metadata_landed(flash, group),
            Owner::TranslationProgram(job) => self.map_program_done(flash, job),
            Owner::Nothing => self.imposed_program_done(),
            owner => unreachable!("a program of {owner:?}"),
        }
        false
    }
}
