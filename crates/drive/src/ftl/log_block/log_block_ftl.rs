//! Log-block FTL: components.

use super::counters::LogBlockCounters;
use super::dirty::DirtyUnits;
use super::geometry::{LogBlockGeometry, LogicalBlock};
use super::logs::{LogBlock, LogId, LogLane, LogProgram, NO_LOG};
use super::map::LogBlockMap;
use super::spec::{Association, LogBlockSpec};
use super::sub_blocks::SubBlocks;
use super::tables::LogBlockTables;
use crate::audit::VersionAudit;
use crate::cache::Cache;
use crate::ftl::block_pool::{BlockPool, NO_BLOCK};
use crate::ftl::counters::FtlCounters;
use crate::ftl::flash::Flash;
use crate::ftl::layout::Layout;
use crate::ftl::outcome::Outcome;
use crate::numbers::{JobId, Lane, Lpn, Ppu, Slot, SuperBlock};
use crate::spec::DriveSpec;
use interpulse_engine::{RequestId, Ring, Slab};
use interpulse_flash::nand::txn::Txn;
use std::collections::VecDeque;

/// The log-block FTL of one drive.
pub struct LogBlockFtl {
    pub(super) spec: LogBlockSpec,
    /// Layout of data and log blocks.
    pub(super) layout: Layout,
    pub(super) geometry: LogBlockGeometry,
    pub(super) map: LogBlockMap,
    pub(super) blocks: BlockPool,
    pub(super) sub_blocks: SubBlocks,
    /// Dirty list k holds the units of group k.
    pub(super) cache: Cache,
    pub(super) dirty: DirtyUnits,
    pub(super) logs: Slab<LogId, LogBlock>,
    /// Log block of each logical block (BAST).
    pub(super) log_of: Vec<LogId>,
    pub(super) lanes: Vec<LogLane>,
    /// Lanes that may be able to continue.
    pub(super) listed: Ring<Lane>,
    pub(super) programs: Slab<JobId, LogProgram>,
    /// Memory of ended programs.
    pub(super) spare: Vec<Vec<Slot>>,
    /// Programs that a lane has in the queue of its die at a time.
    pub(super) programs_per_lane: u32,
    /// Programs of host data so far.
    pub(super) clock: u64,
    /// Reads may be repeated: they prevent the erase of their block.
    pub(super) follows_reads: bool,
    /// Writes wait for slots of the cache.
    pub(super) backpressure: bool,
    /// Flushes in progress: epoch of the cache, and command.
    pub(super) flushes: VecDeque<(u32, RequestId)>,
    pub(super) versions: VersionAudit,
    pub(super) outcomes: VecDeque<Outcome>,
    pub(super) counters: FtlCounters,
    pub(super) log_counters: LogBlockCounters,
}

impl LogBlockFtl {
    /// FTL of a drive with the checked `spec`, in the state `tables`.
    pub fn new(spec: &DriveSpec, tables: LogBlockTables) -> LogBlockFtl {
        let of = spec.ftl.log_blocks.expect("the drive has log blocks");
        let sub_blocks = SubBlocks::new(spec, &tables);
        let LogBlockTables { whole: layout, geometry, free, filled, data, kept, .. } = tables;
        let groups = match of.association {
            Association::Block => geometry.blocks,
            Association::Full => layout.lanes,
        };
        let slots = spec.cache.slots(&spec.geometry, &spec.ftl) as u32;
        let mut ftl = LogBlockFtl {
            spec: of,
            map: LogBlockMap::new(geometry.logical_units(), filled, data),
            blocks: BlockPool::new(free, vec![0; layout.super_blocks() as usize]),
            sub_blocks,
            cache: Cache::new(slots, groups),
            dirty: DirtyUnits::new(groups, layout.lanes, geometry.program),
            logs: Slab::default(),
            log_of: match of.association {
                Association::Block => vec![NO_LOG; geometry.blocks as usize],
                Association::Full => Vec::new(),
            },
            lanes: Lane::first(layout.lanes).map(|_| LogLane::default()).collect(),
            listed: Ring::default(),
            programs: Slab::default(),
            spare: Vec::new(),
            programs_per_lane: 1 + u32::from(spec.geometry.cache_pages > 0),
            clock: 0,
            follows_reads: spec.follows_reads(),
            backpressure: false,
            flushes: VecDeque::new(),
            versions: VersionAudit::new(spec.audit_sample),
            outcomes: VecDeque::new(),
            counters: FtlCounters::default(),
            log_counters: LogBlockCounters::default(),
            layout,
            geometry,
        };
        if let Some(kept) = kept {
            ftl.resume(*kept);
        }
        ftl
    }

    /// Logical blocks.
    pub fn geometry(&self) -> &LogBlockGeometry {
        &self.geometry
    }

    /// Counters of log blocks since the start.
    pub fn log_counters(&self) -> LogBlockCounters {
        self.log_counters
    }

    /// Whether each log block has the units of one logical block (BAST).
    #[inline]
    pub(super) fn by_block(&self) -> bool {
        self.spec.association == Association::Block
    }

    /// Group of the dirty units that share log blocks with those of `block`.
    #[inline]
    pub(super) fn group_of(&self, block: LogicalBlock) -> u32 {
        if self.by_block() { block.0 } else { self.geometry.lane(block).0 }
    }

    /// Physical unit at an offset of the data block of a logical block.
    #[inline]
    pub(super) fn in_data_block(&self, block: LogicalBlock, offset: u32) -> Ppu {
        self.layout.first_unit(self.map.data(block)) + offset
    }

    /// Lists a lane among those that may be able to continue.
    #[inline]
    pub(super) fn list(&mut self, lane: Lane) {
        if !std::mem::replace(&mut self.lanes[lane.index()].is_listed, true) {
            self.listed.push(lane);
        }
    }

    /// Lists all lanes with dirty units.
    pub(super) fn list_dirty_lanes(&mut self) {
        for lane in Lane::first(self.layout.lanes) {
            if self.dirty.first(&self.cache, lane.index()).is_some() {
                self.list(lane);
            }
        }
    }

    /// Opens an erased super block of a lane as a log block, for one logical block or all.
    pub(super) fn open_log(&mut self, lane: Lane, of: Option<LogicalBlock>) -> Option<LogId> {
        // A full merge needs the last one.
        if self.blocks.free[lane.index()].len() < 2 {
            return None;
        }
        let block = self.blocks.take(lane)?;
        self.log_counters.opened_log_blocks += 1;
        Some(self.logs.insert(LogBlock {
            block,
            of,
            is_sequential: of.is_some(),
            programs: 0,
            in_flight: 0,
            units: Vec::with_capacity(self.geometry.units as usize),
            used: self.clock,
        }))
    }

    /// Closes a log block; returns its super block.
    pub(super) fn close_log(&mut self, lane: Lane, log: LogId) -> SuperBlock {
        let closed = self.logs.remove(log);
        let of = &mut self.lanes[lane.index()];
        if of.sequential == Some(log) {
            of.sequential = None;
        } else {
            of.logs.retain(|&other| other != log);
            if let (true, Some(block)) = (!self.log_of.is_empty(), closed.of) {
                self.log_of[block.index()] = NO_LOG;
            }
        }
        closed.block
    }

    /// Releases a super block that has no newest unit, for its erase.
    pub(super) fn release(&mut self, flash: &mut Flash, block: SuperBlock) {
        if block != NO_BLOCK && self.blocks.release(block) {
            self.submit_erase(flash, block);
        }
    }

    pub(super) fn submit_erase(&mut self, flash: &mut Flash, block: SuperBlock) {
        flash.submit(self.sub_blocks.erase(block));
    }

    /// Frees an erased super block, or continues the merge that has erased a sub-block.
    pub(super) fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) {
        self.counters.erases += 1;
        match self.sub_blocks.erased(txn) {
            Some(block) => {
                self.blocks.erased(&self.layout, block);
                self.list(self.layout.lane_of(block).0);
            }
            None => {
                let lane = self.sub_blocks.layout.lane_at(txn.die, txn.plane.into());
                self.erased_apart(flash, lane);
            }
        }
        self.destage(flash);
    }

    /// Unmaps the units `from..to`; returns how many of them were mapped.
    pub(super) fn trim(&mut self, from: Lpn, to: Lpn) -> u64 {
        let mut trimmed = 0;
        for lpn in from.until(to) {
            trimmed += u64::from(self.trim_unit(lpn));
        }
        trimmed
    }
}
