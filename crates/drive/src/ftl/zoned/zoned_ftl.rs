//! Zoned FTL: components.

use super::area::ZoneArea;
use super::copies::Repairs;
use super::counters::ZoneCounters;
use super::durability::ZonePowerLoss;
use super::failures::ZoneFailures;
use super::geometry::ZoneGeometry;
use super::spec::{FinishEnd, ResetEnd};
use super::state::{Piece, ZoneStates};
use super::tables::{PartialZone, ZoneTables};
use crate::audit::VersionAudit;
use crate::cache::Cache;
use crate::ftl::block_pool::{BlockPool, NO_BLOCK};
use crate::ftl::counters::FtlCounters;
use crate::ftl::layout::Layout;
use crate::ftl::outcome::Outcome;
use crate::numbers::{JobId, Slot, SuperBlock};
use crate::spec::DriveSpec;
use interpulse_engine::{RequestId, Ring, Streams};
use std::collections::VecDeque;

/// A program that has landed.
pub(super) const LANDED: JobId = JobId(u32::MAX);
/// A super block that no reset waits for.
pub(super) const NO_RESET: ResetId = ResetId(u32::MAX);

interpulse_engine::numbers! {
    /// A reset in progress.
    ResetId
}

/// The zoned FTL of one drive.
pub struct ZonedFtl {
    pub(super) layout: Layout,
    pub(super) geometry: ZoneGeometry,
    pub(super) states: ZoneStates,
    pub(super) zones: Vec<ZoneData>,
    pub(super) blocks: BlockPool,
    /// Dirty list k holds the data of zone k.
    pub(super) cache: Cache,
    pub(super) versions: VersionAudit,
    pub(super) programs: Vec<ZoneProgram>,
    pub(super) free_programs: Vec<JobId>,
    /// Zones that may be able to start a program.
    pub(super) ready: Ring<u32>,
    /// Zones that wait for an erased super block.
    pub(super) starved: Vec<u32>,
    /// Programs that a zone has in the queue of a die at a time.
    pub(super) programs_per_lane: u32,
    /// Reads may be repeated: they prevent the erase of their block.
    pub(super) follows_reads: bool,
    /// A finish fills what is left of its zone.
    pub(super) fills: bool,
    /// Resets end with the erases of their blocks.
    pub(super) resets_wait: bool,
    /// The zones are chunks of an Open-Channel drive.
    pub(super) chunks: bool,
    /// Pieces of the write that is being checked.
    pub(super) pieces: Vec<Piece>,
    /// A write completes with its programs. Each of these has data of one write.
    pub(super) writes_through: bool,
    /// Resets in progress: command, and erases left.
    pub(super) resets: interpulse_engine::Slab<ResetId, (RequestId, u32)>,
    /// Reset that waits for the erase of each super block.
    pub(super) reset_of: Vec<ResetId>,
    pub(super) repairs: Repairs,
    /// State against a loss of power, if power may be lost.
    pub(super) loss: Option<Box<ZonePowerLoss>>,
    /// Failed blocks, if blocks can fail.
    pub(super) failures: Option<Box<ZoneFailures>>,
    pub(super) outcomes: VecDeque<Outcome>,
    pub(super) counters: FtlCounters,
    pub(super) zone_counters: ZoneCounters,
}

/// Data of a zone, from the write pointer to flash: written >= admitted >= issued programs >= landed programs.
#[derive(Clone, Debug)]
pub(super) struct ZoneData {
    /// Super blocks, row by row, in the order of the lanes; [`NO_BLOCK`] where no program has begun.
    pub(super) blocks: Vec<SuperBlock>,
    /// Units in the cache or on flash; all of the zone if it has an area.
    pub(super) admitted: u32,
    /// Units that a reset overtook: their data has not arrived yet and will be dropped.
    pub(super) overtaken: u32,
    /// Programs submitted.
    pub(super) issued: u32,
    /// Programs from `issued - in_flight.len()` on; [`LANDED`] those that ended before an earlier one.
    pub(super) in_flight: VecDeque<JobId>,
    /// Later programs that had landed when power was lost, the next one last.
    pub(super) ahead: Vec<u32>,
    /// Resets so far.
    pub(super) generation: u32,
    /// Repairs that have not ended.
    pub(super) repairs: u32,
    /// Random write area, from its opening until the next reset.
    pub(super) area: Option<Box<ZoneArea>>,
    /// Units of submitted programs that the host did not write, in order.
    pub(super) holes: Vec<u32>,
    /// In the list of ready zones.
    pub(super) is_ready: bool,
    /// In the list of starved zones.
    pub(super) is_starved: bool,
    /// Finished: its last program may be partial.
    pub(super) is_finished: bool,
    /// Finished, and programs of padding fill what is left.
    pub(super) is_filling: bool,
    /// Command that waits for the last of these programs.
    pub(super) finishing: Option<RequestId>,
    /// Where writes complete with their programs, the write of each program that is not submitted.
    pub(super) writers: VecDeque<RequestId>,
}

impl ZoneData {
    /// Programs that have landed with all earlier ones.
    #[inline]
    pub(super) fn landed(&self) -> u32 {
        self.issued - self.in_flight.len() as u32
    }

    /// Whether the host did not write the unit at `offset`, which is in a submitted program.
    #[inline]
    pub(super) fn is_hole(&self, offset: u32) -> bool {
        !self.holes.is_empty() && self.holes.binary_search(&offset).is_ok()
    }

    /// Whether program `k` has landed.
    #[inline]
    pub(super) fn has_landed(&self, k: u32) -> bool {
        let landed = self.landed();
        k < landed
            || (k < self.issued && self.in_flight[(k - landed) as usize] == LANDED)
            || (!self.ahead.is_empty() && self.ahead.contains(&k))
    }
}

/// A program in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct ZoneProgram {
    pub(super) zone: u32,
    /// Resets of the zone when it was submitted.
    pub(super) generation: u32,
    /// Number of the program in the zone.
    pub(super) program: u32,
    pub(super) block: SuperBlock,
    /// It fills a finished zone: the host has written nothing of it.
    pub(super) fills: bool,
    /// The write that waits for it, where writes do.
    pub(super) writer: RequestId,
    /// Cache slots of its units, [`NO_SLOT`](super::area::NO_SLOT) those without data.
    pub(super) slots: Vec<Slot>,
}

impl ZonedFtl {
    /// FTL of a drive with the checked `spec`, in the state `tables`.
    pub fn new(spec: &DriveSpec, tables: ZoneTables, streams: &Streams) -> ZonedFtl {
        let zones = spec.ftl.zones.as_ref().expect("the drive is zoned");
        let ZoneTables { layout, geometry, cycles, free, written, blocks, partial } = tables;
        let slots = spec.cache.slots(&spec.geometry, &spec.ftl) as u32;
        let data = |(blocks, &units): (Vec<SuperBlock>, &u32)| ZoneData {
            blocks,
            admitted: units,
            overtaken: 0,
            issued: units / geometry.program,
            in_flight: VecDeque::new(),
            ahead: Vec::new(),
            generation: 0,
            repairs: 0,
            area: None,
            holes: Vec::new(),
            is_ready: false,
            is_starved: false,
            is_finished: false,
            is_filling: false,
            finishing: None,
            writers: VecDeque::new(),
        };
        let loss = spec
            .power_loss
            .map(|_| Box::new(ZonePowerLoss::new(spec.cache.protected, &layout, &geometry, &blocks)));
        let versions = match spec.power_loss {
            Some(_) => VersionAudit::for_power_loss(!spec.cache.protected),
            None => VersionAudit::new(spec.audit_sample),
        };
        let mut ftl = ZonedFtl {
            loss,
            failures: ZoneFailures::new(spec, &layout, &cycles, streams),
            repairs: Repairs::default(),
            states: ZoneStates::new(
                &written,
                geometry.units,
                zones.open_limit(),
                zones.max_active,
                zones.area_limits(spec.geometry.unit_bytes),
            ),
            zones: blocks.into_iter().zip(&written).map(data).collect(),
            reset_of: vec![NO_RESET; cycles.len()],
            blocks: BlockPool::new(free, cycles),
            cache: Cache::new(slots, geometry.zones),
            versions,
            programs: Vec::new(),
            free_programs: Vec::new(),
            ready: Ring::default(),
            starved: Vec::new(),
            programs_per_lane: 1 + u32::from(spec.geometry.cache_pages > 0),
            follows_reads: spec.follows_reads(),
            fills: zones.finish_end == FinishEnd::WhenFilled,
            resets_wait: zones.reset_end == ResetEnd::WhenErased,
            chunks: zones.chunks,
            pieces: Vec::new(),
            writes_through: spec.cache.acknowledge.waits_for_programs(),
            resets: interpulse_engine::Slab::default(),
            outcomes: VecDeque::new(),
            counters: FtlCounters::default(),
            zone_counters: ZoneCounters::default(),
            layout,
            geometry,
        };
        for &PartialZone { zone, issued, is_finished } in &partial {
            let of = &mut ftl.zones[zone as usize];
            (of.issued, of.is_finished) = (issued, is_finished);
        }
        ftl.states.resume(partial.iter().map(|of| (of.zone, of.is_finished)));
        ftl.hold_units_of(&partial);
        ftl
    }

    /// States of the zones.
    pub fn states(&self) -> &ZoneStates {
        &self.states
    }

    /// Zones.
    pub fn geometry(&self) -> &ZoneGeometry {
        &self.geometry
    }

    /// Counters of the zones since the start.
    pub fn zone_counters(&self) -> ZoneCounters {
        ZoneCounters {
            closed_by_drive: self.states.closed_by_drive,
            implicit_commits: self.states.implicit_commits,
            ..self.zone_counters
        }
    }

    /// Super blocks that belong to zones, and those that repairs fill.
    pub(super) fn used_blocks(&self) -> impl Iterator<Item = SuperBlock> {
        let of_zones = self.zones.iter().flat_map(|zone| &zone.blocks).copied();
        of_zones.filter(|&block| block != NO_BLOCK).chain(self.blocks_of_repairs())
    }
}
