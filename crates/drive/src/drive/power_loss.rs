//! A loss of power: what the drive forgets, how it finds its map again, and how long that takes.
//!
//! ```text
//! on -- cut --> off -- power --> mounting -- map --> refilling -- cache empty --> on
//! ```
//!
//! At the cut all transactions end where they are. The map is rebuilt from flash alone ([`crate::ftl::recovery`]) and
//! compared with the one the drive had; a difference is a bug, and ends the run. *Mounting* is the time of the reads that
//! this takes. *Refilling* programs what a protected cache has kept, and erases blocks whose erase was interrupted, as
//! ordinary operations; the host is served after that.

use super::metadata::Group;
use super::mount::Reads;
use super::spec::{Acknowledge, DriveSpec};
use super::{Drive, Impossible, OWN_LINES};
use crate::audit::loss::{Held, Losses};
use crate::cache::{Cache, NO_SLOT};
use crate::ftl::Ftl;
use crate::ftl::checkpoint::{Checkpoint, ENTRY_BYTES, Entry};
use crate::ftl::gc::GcPolicy;
use crate::ftl::layout::Layout;
use crate::ftl::map::{UNMAPPED, Where};
use crate::ftl::oob::Oob;
use crate::ftl::recovery::{self, Found};
use crate::host::line::Line;
use crate::host::link::Direction;
use crate::host::queues::Queues;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime, Slab};
use interpulse_flash::die::Die;
use interpulse_workload::Op;

/// The flush that ends a recovery: no request has this number.
pub(super) const REFILL: u32 = u32::MAX;

/// Whether the drive has power, and what it does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    On,
    Off,
    Mounting,
    Refilling,
}

/// A cut and the recovery from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// When power was cut.
    pub at: SimTime,
    /// Requests that the host had submitted and had no answer to: reads, writes, others.
    pub requests: [u64; 3],
    /// What they and completed requests lost.
    pub losses: Losses,
    /// Units whose trim, which no completed flush covers, was undone.
    pub trims_undone: u64,
    /// Word lines (of all planes programmed together) that were being programmed.
    pub torn_word_lines: u64,
    /// Super blocks whose erase was interrupted and is done again.
    pub blocks_erased_again: u64,
    /// Pages of the checkpoint read.
    pub checkpoint_pages: u64,
    /// Pages read whose out-of-band data is all that is looked at.
    pub oob_pages: u64,
    /// Pages read that hold what the capacitors saved of the cache.
    pub cache_pages: u64,
    /// Units of the cache programmed before the host was served.
    pub refilled_units: u64,
    /// Time of the reads.
    pub mounting: Duration,
    /// When power was back.
    pub on: Option<SimTime>,
    /// When the host was served again.
    pub served: Option<SimTime>,
}

/// What became of an owner's request that was outstanding at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutWrite {
    /// Its number.
    pub id: u32,
    /// Logical units whose data, or newer data, the drive still has.
    pub survived: Vec<u32>,
}

/// What a cut did to an owner's requests. All outstanding ones are gone; their numbers are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Writes of which at least one unit had been taken up.
    pub writes: Vec<CutWrite>,
    /// What was lost.
    pub losses: Losses,
}

/// What is kept for a loss of power.
pub(super) struct PowerLoss {
    pub(super) oob: Oob,
    pub(super) checkpoint: Checkpoint,
    /// Version of what is in each slot of the cache.
    pub(super) slots: Vec<u32>,
    pub(super) state: State,
    /// Super blocks whose erase has been interrupted and not been done again.
    pub(super) broken: Vec<bool>,
    pub(super) groups: Slab<Group>,
    pub(super) next_lane: u32,
    pub(super) checkpoints: u64,
    pub(super) checkpoint_pages: u64,
    pub(super) metadata_programs: u64,
    requests_lost: u64,
    cuts: Vec<Recovery>,
}

impl PowerLoss {
    pub(super) fn new(spec: &DriveSpec, ftl: &Ftl, dies: &[Die]) -> PowerLoss {
        let entry = |lpn| match ftl.map.get(lpn) {
            Where::Flash(place) => Entry { place, version: 0 },
            _ => Entry { place: UNMAPPED, version: 0 },
        };
        let per_page = (spec.part.page_size.get() / ENTRY_BYTES) as u32;
        let entries = (0..ftl.map.logical_units()).map(entry).collect();
        PowerLoss {
            oob: Oob::new(ftl.layout.units() as u32),
            checkpoint: Checkpoint::new(entries, block_states(ftl, dies), per_page),
            slots: vec![0; (spec.cache.size.get() / spec.geometry.unit_bytes) as usize],
            state: State::On,
            broken: vec![false; ftl.layout.super_blocks() as usize],
            groups: Slab::default(),
            next_lane: 0,
            checkpoints: 0,
            checkpoint_pages: 0,
            metadata_programs: 0,
            requests_lost: 0,
            cuts: Vec::new(),
        }
    }
}

/// Program operations ended, or torn, in each super block since its last erase.
fn programs_begun(layout: &Layout, dies: &[Die]) -> Vec<u32> {
    let programs = |super_block| {
        let (lane, block) = layout.lane_of(super_block);
        let (die, plane) = layout.die_of(lane);
        u32::from(dies[die as usize].blocks().programmed(plane, block)) / layout.pages_per_program
    };
    (0..layout.super_blocks()).map(programs).collect()
}

/// Erases of each super block, and whether all of its programs have ended.
pub(super) fn block_states(ftl: &Ftl, dies: &[Die]) -> Vec<(u32, bool)> {
    let full = ftl.layout.programs_per_block;
    let programs = programs_begun(&ftl.layout, dies);
    programs.iter().zip(&ftl.cycles).map(|(&p, &cycles)| (cycles, p == full)).collect()
}

impl DriveSpec {
    /// Whether a loss of power takes what is in the cache.
    pub(super) fn loses_cache(&self) -> bool {
        let through = self.cache.acknowledge == Acknowledge::WhenProgrammed;
        self.power_loss.is_some() && (through || !self.cache.protected)
    }

    /// What the rest of the drive does not allow a loss of power to meet.
    pub(super) fn check_power_loss(&self) -> Result<(), Impossible> {
        if self.power_loss.is_none() {
            return Ok(());
        }
        if self.ftl.gc == GcPolicy::Imposed {
            let why = "gc = \"imposed\" has no places of data on flash that a map could be rebuilt from";
            return Err(Impossible::new(&["power-loss.at", "ftl.gc"], why.into()));
        }
        if self.ftl.reprogram.is_some() {
            let why = "word lines that hold two bits per cell are not found again after a loss of power";
            return Err(Impossible::new(&["power-loss.at", "ftl.reprogram"], why.into()));
        }
        if self.nand.power.trace.is_some() || self.nand.power.budget.is_some() {
            let key = if self.nand.power.trace.is_some() { "power.trace" } else { "power.budget" };
            let why = "a loss of power is not followed in the current through time nor in a budget of power";
            return Err(Impossible::new(&["power-loss.at", key], why.into()));
        }
        Ok(())
    }
}

impl Drive {
    fn power_timer(&self, k: u32) -> ResourceId {
        let before = self.flows.len() as u32 + u32::from(self.spec.refreshes());
        ResourceId(self.first + self.flash_resources + OWN_LINES + before + k)
    }

    fn kept(&mut self) -> &mut PowerLoss {
        self.power.as_mut().expect("power may be lost")
    }

    /// Arms the cut and the first checkpoint.
    pub(super) fn start_power_loss(&mut self, agenda: &mut Agenda) {
        let Some(spec) = self.spec.power_loss else { return };
        self.arm_checkpoint(agenda);
        // An owner cuts the power of its drives itself.
        let Some(at) = spec.at.filter(|_| !self.flows.is_empty()) else { return };
        if SimTime::ZERO + at + spec.off_for > agenda.horizon() {
            let most = agenda.horizon();
            self.failure = Some(format!(
                "power-loss.at = {at} and off-for together are later than the {most} that a drive of this size can simulate"
            ));
            return;
        }
        agenda.arm(self.power_timer(0), SimTime::ZERO + at);
    }

    pub(super) fn arm_checkpoint(&self, agenda: &mut Agenda) {
        if let Some(spec) = self.spec.power_loss {
            let next = agenda.now() + spec.checkpoint_every;
            if next <= agenda.horizon() {
                agenda.arm(self.power_timer(1), next);
            }
        }
    }

    /// Whether power is off, or the drive recovers.
    #[inline]
    pub fn is_down(&self) -> bool {
        self.power.as_ref().is_some_and(|power| power.state != State::On)
    }

    /// Requests that were outstanding when power was cut.
    pub fn requests_lost(&self) -> u64 {
        self.power.as_ref().map_or(0, |power| power.requests_lost)
    }

    /// Every cut so far and the recovery from it.
    pub fn recoveries(&self) -> &[Recovery] {
        self.power.as_ref().map_or(&[], |power| &power.cuts)
    }

    /// Checkpoints completed, pages written for them, and programs of checkpoints and trims.
    pub fn metadata_written_so_far(&self) -> (u64, u64, u64) {
        self.power.as_ref().map_or((0, 0, 0), |p| (p.checkpoints, p.checkpoint_pages, p.metadata_programs))
    }

    /// The timer of the cut, or of the end of mounting.
    pub(super) fn on_power_timer(&mut self, agenda: &mut Agenda) {
        let state = self.kept().state;
        match state {
            State::On if !self.closed => {
                self.cut_power(agenda);
                let off_for = self.spec.power_loss.expect("power may be lost").off_for;
                self.power_up(agenda, agenda.now() + off_for);
            }
            State::Mounting => self.mounted(agenda),
            State::On | State::Off | State::Refilling => {}
        }
    }

    // ---- the cut --------------------------------------------------------------------------------------

    /// Power is cut now, in whatever the drive is doing; it stays off until [`Drive::power_up`]. Panics if the drive's
    /// spec has no [`crate::drive::spec::PowerLossSpec`], or if recovery would lose what must not be lost.
    pub fn cut_power(&mut self, agenda: &mut Agenda) -> Cut {
        let was = self.kept().state;
        assert!(matches!(was, State::On | State::Refilling), "power that is off cannot be cut");
        let torn = self.nand.lose_power(agenda);
        let mut recovery = self.note_cut(agenda.now());
        for (die, operation) in torn {
            // What is torn of metadata has no place: the checkpoint is void.
            let Some(block) = operation.block else { continue };
            if operation.erase {
                let lanes = self.ftl.layout.lanes_per_die;
                let lane = die * lanes + operation.planes.0 / self.ftl.layout.planes;
                let super_block = lane * self.ftl.layout.blocks + block;
                self.kept().broken[super_block as usize] = true;
            } else {
                recovery.torn_word_lines += 1;
            }
        }
        let (places, writes) = self.recover(&mut recovery);
        self.forget(agenda, &places);
        let power = self.kept();
        power.state = State::Off;
        power.groups = Slab::default();
        power.requests_lost += recovery.requests.iter().sum::<u64>();
        power.cuts.push(recovery);
        Cut { writes, losses: recovery.losses }
    }

    fn note_cut(&self, at: SimTime) -> Recovery {
        let mut requests = [0; 3];
        for (_, request) in self.requests.iter() {
            requests[match request.op {
                Op::Read => 0,
                Op::Write => 1,
                Op::Trim | Op::Flush => 2,
            }] += 1;
        }
        Recovery { at, requests, ..Recovery::default() }
    }

    /// Rebuilds the map from flash, compares it with the live one, and puts it in its place. Returns the logical units that
    /// are in a cache that survives, by slot, and what became of the requests.
    fn recover(&mut self, recovery: &mut Recovery) -> (Vec<(u32, u32)>, Vec<CutWrite>) {
        let programs = programs_begun(&self.ftl.layout, self.nand.dies());
        self.kept().checkpoint.lose_power();
        let power = self.power.as_ref().expect("power may be lost");
        let found = Found { programs: &programs, broken: &power.broken, cycles: &self.ftl.cycles };
        let rebuilt = recovery::rebuild(&self.ftl.layout, &power.oob, &power.checkpoint, &found);
        let mut places = rebuilt.places;
        recovery.trims_undone = self.compare(&places);

        let kept = if self.keeps_homes { Vec::new() } else { self.cache.occupied() };
        let newest = |slot: &u32| self.ftl.map.get(self.cache.lpn(*slot)) == Where::Cache(*slot);
        let kept: Vec<(u32, u32)> = kept.into_iter().filter(newest).map(|s| (s, self.cache.lpn(s))).collect();

        let mut reads = Reads::new(self.nand.geometry(), self.nand.timing());
        recovery.checkpoint_pages = power.checkpoint.pages();
        recovery.cache_pages = (kept.len() as u64).div_ceil(u64::from(self.ftl.layout.units_per_page()));
        reads.spread(recovery.checkpoint_pages + recovery.cache_pages);
        let whole = reads.pages();
        (0..self.ftl.layout.super_blocks()).for_each(|block| reads.probe(&self.ftl.layout, block));
        for &block in &rebuilt.scanned {
            reads.scan(&self.ftl.layout, block, programs[block as usize]);
        }
        recovery.oob_pages = reads.pages() - whole;
        recovery.mounting = reads.time(self.spec.nand.ecc_latency);
        recovery.refilled_units = kept.len() as u64;
        recovery.blocks_erased_again = power.broken.iter().filter(|broken| **broken).count() as u64;

        let mut slots = std::collections::HashMap::new();
        for &(slot, lpn) in &kept {
            places[lpn as usize] = UNMAPPED;
            slots.insert(lpn, slot);
        }
        let (losses, fates) = self.versions.power_lost(|lpn| match (slots.get(&lpn), places[lpn as usize]) {
            (Some(&slot), _) => Held::Slot(slot),
            (None, UNMAPPED) => Held::Nothing,
            (None, ppu) => Held::Unit(ppu),
        });
        assert_eq!(losses.flushed, 0, "a cut lost units that a flush had covered");
        assert!(
            !self.spec.cache.protected || losses.acknowledged == 0,
            "a cut lost acknowledged units: {losses:?}"
        );
        recovery.losses = losses;
        let writes = fates.into_iter().map(|(id, units)| CutWrite {
            id,
            survived: units.into_iter().filter(|u| u.1).map(|u| u.0).collect(),
        });
        let writes = writes.collect();
        let power = self.power.as_ref().expect("power may be lost");
        self.ftl.restore(&places, &programs, &power.broken);
        (kept, writes)
    }

    /// Compares a rebuilt map with the live one, as far as flash must hold what that says. Returns how many trims are
    /// undone.
    fn compare(&self, places: &[u32]) -> u64 {
        let mut undone = 0;
        for (lpn, &place) in (0..).zip(places) {
            let expected = match self.ftl.map.get(lpn) {
                Where::Flash(ppu) => ppu,
                Where::Cache(slot) if self.keeps_homes && self.cache.home(slot) != NO_SLOT => {
                    self.cache.home(slot)
                }
                Where::Cache(_) => continue,
                Where::Unmapped if self.spec.cache.protected => UNMAPPED,
                Where::Unmapped => {
                    undone += u64::from(place != UNMAPPED);
                    continue;
                }
            };
            assert_eq!(place, expected, "recovery found unit {lpn} elsewhere than it was");
        }
        undone
    }

    /// Everything that is not on flash is gone, but for `kept`, slots and units of a cache that survives.
    fn forget(&mut self, agenda: &mut Agenda, kept: &[(u32, u32)]) {
        let slots = self.kept().slots.clone();
        let emptied = Cache::new(slots.len() as u32, self.cache.lists() as u32);
        let before = std::mem::replace(&mut self.cache, emptied);
        self.full_lists.fill(0);
        let mut pairs = Vec::with_capacity(kept.len());
        for &(slot, lpn) in kept {
            let list = before.list(slot);
            let new = self.cache.admit(lpn, list, NO_SLOT).expect("it was in a cache of this size");
            self.ftl.map.set_cached(lpn, new);
            if self.stripe.is_some() && self.levels.is_none() && self.cache.dirty(list) >= self.worth_starting
            {
                self.full_lists[list / 64] |= 1 << (list % 64);
            }
            self.kept().slots[new as usize] = slots[slot as usize];
            pairs.push((slot, new));
        }
        self.versions.slots_moved(&pairs);
        if let Some(levels) = &mut self.levels {
            levels.lose_power(&pairs);
        }
        self.gc_turn.release();

        let ids: Vec<u32> = self.requests.iter().map(|(id, _)| id).collect();
        for id in ids {
            self.requests.remove(id);
        }
        let host = &self.spec.host;
        self.queues = Queues::new(&host.queue_weights, host.queue_depth, host.arbitration, host.frame_buffer);
        (self.link_in, self.link_out) = (Direction::new(&host.link), Direction::new(&host.link));
        let own = |k: u32| ResourceId(self.first + self.flash_resources + k);
        self.firmware = Line::new(own(0));
        self.arriving = Line::new(own(1));
        self.dram = Line::new(own(2));
        self.leaving = Line::new(own(3));
        for k in 0..Drive::resources(&self.spec, self.flows.len() as u32) - self.flash_resources {
            agenda.disarm(own(k));
        }
        self.jobs = Default::default();
        self.gc_lanes.fill(Default::default());
        self.gc_asleep = 0;
        self.readers.fill(0);
        self.stalled.clear();
        self.flushes.clear();
        for (w, word) in self.ready_lanes.iter_mut().enumerate() {
            let left = self.ftl.layout.lanes - w as u32 * 64;
            *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
        self.next_lane = 0;
        self.programs_in_flight = 0;
        self.writers.fill(0);
    }

    // ---- recovery -------------------------------------------------------------------------------------

    /// Power is back at `on`. The drive mounts, then empties its cache, then serves the host.
    pub fn power_up(&mut self, agenda: &mut Agenda, on: SimTime) {
        let timer = self.power_timer(0);
        let power = self.kept();
        assert_eq!(power.state, State::Off, "power that is on cannot come back");
        power.state = State::Mounting;
        let recovery = power.cuts.last_mut().expect("power has been cut");
        recovery.on = Some(on);
        agenda.arm(timer, on + recovery.mounting);
    }

    /// The map is there again: erases blocks that need it and empties the cache.
    fn mounted(&mut self, agenda: &mut Agenda) {
        self.kept().state = State::Refilling;
        for super_block in 0..self.ftl.layout.super_blocks() {
            if self.kept().broken[super_block as usize] {
                let (lane, _) = self.ftl.layout.lane_of(super_block);
                self.gc_lanes[lane as usize].erasing += 1;
                self.submit_erase(agenda, super_block);
            }
        }
        for lane in 0..self.ftl.layout.lanes {
            self.pump_gc(agenda, lane);
        }
        let epoch = self.cache.begin_flush();
        self.flushes.push_back((epoch, REFILL));
        self.room_in_cache(agenda);
    }

    /// The cache is empty: the host is served again. What it had outstanding it does not ask for again, but each closed flow
    /// fills its depth, and arrivals that power kept out come now.
    pub(super) fn refilled(&mut self, agenda: &mut Agenda) {
        let now = agenda.now();
        let power = self.kept();
        power.state = State::On;
        power.cuts.last_mut().expect("power has been cut").served = Some(now);
        for f in 0..self.flows.len() {
            if let Some((at, request)) = self.flows[f].next.take() {
                self.arm_flow(agenda, f, at, request);
            } else if !self.closed {
                for _ in 0..self.flows[f].depth {
                    self.submit_next(agenda, f);
                }
            }
        }
        self.start_patrol(agenda);
        self.arm_checkpoint(agenda);
    }
}
