//! Bad-block table: endurance and state of each super block, reserved blocks of each lane.
//!
//! The unit of replacement is the super block: firmware forms it of good blocks of its planes, and one failure retires it
//! whole. A reserved super block of its lane takes its number, with no wear.

use crate::ftl::layout::Layout;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::wear::endurance::Endurance;
use crate::ftl::page::wear::health::Health;
use crate::numbers::{Lane, SuperBlock};
use crate::spec::DriveSpec;
use interpulse_engine::{Rng, SimTime, Streams};

/// State of a super block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    Good,
    /// A program failed: it is emptied, and replaced when it is erased.
    Failing,
    /// It failed and its lane had no reserved block: it keeps what the write cache held when the drive became read-only.
    Kept,
}

/// Bad blocks and reserved blocks of one drive.
pub(crate) struct BadBlocks {
    endurance: Endurance,
    /// Cycles that each super block endures.
    limits: Vec<u32>,
    states: Vec<BlockState>,
    /// Reserved super blocks of each lane, left and at the start.
    spares: Vec<(u32, u32)>,
    rng: Rng,
    /// Thresholds of [`Rng::chance`].
    erase_failure: u64,
    program_failure: u64,
    /// Collection keeps room for programs that fail.
    keeps_room: bool,
    /// The dies that are left do not hold all data.
    too_few_dies: bool,
    health: Health,
    /// Cycles of all super blocks at the start of the run, those of blocks that failed before included.
    cycles_at_start: u64,
}

impl BadBlocks {
    /// Bad blocks of a drive with the checked `spec` and `layout`, whose super blocks have `cycles` together; `None` without
    /// faults.
    pub(crate) fn new(
        spec: &DriveSpec,
        layout: &Layout,
        cycles: u64,
        streams: &Streams,
    ) -> Option<Box<BadBlocks>> {
        let faults = spec.faults.as_ref()?;
        let planes = spec.geometry.blocks_per_plane;
        let reserve = planes - layout.blocks;
        let mut rng = streams.stream("ftl.factory-bad-blocks", 0);
        let factory = Rng::threshold(faults.factory_bad_blocks);
        let mut health = Health::default();
        let spares = Lane::first(layout.lanes).map(|_| {
            let bad = (0..layout.planes).map(|_| factory_bad(&mut rng, factory, planes, reserve));
            let bad: Vec<u32> = bad.collect();
            health.factory_bad_blocks += bad.iter().map(|&n| u64::from(n)).sum::<u64>();
            let left = reserve - bad.iter().max().expect("a lane has planes");
            (left, left)
        });
        let spares: Vec<(u32, u32)> = spares.collect();
        health.spare_at_start = spares.iter().map(|s| u64::from(s.0)).sum();
        let mut endurance = Endurance::new(faults, spec.part.endurance, streams);
        Some(Box::new(BadBlocks {
            limits: (0..layout.super_blocks()).map(|_| endurance.draw()).collect(),
            states: vec![BlockState::Good; layout.super_blocks() as usize],
            endurance,
            spares,
            rng: streams.stream("ftl.faults", 0),
            erase_failure: Rng::threshold(faults.erase_failure),
            program_failure: Rng::threshold(faults.program_failure),
            keeps_room: spec.fails_programs(),
            too_few_dies: false,
            health,
            cycles_at_start: cycles,
        }))
    }

    /// Cycles that the block in use as `super_block` endures.
    pub(super) fn limit(&self, super_block: SuperBlock) -> u32 {
        self.limits[super_block.index()]
    }

    /// Reserved blocks of `lane` that are left.
    pub(super) fn spares_left(&self, lane: Lane) -> u32 {
        self.spares[lane.index()].0
    }

    /// Endurance of a block, with random numbers of `rng`.
    pub(super) fn endurance_from(&self, rng: &mut Rng) -> u32 {
        self.endurance.draw_from(rng)
    }

    /// Replaces `super_block` of `lane`, which failed in its `cycles`-th erase before the run, by a block that endures `limit`.
    pub(super) fn failed_before(&mut self, lane: Lane, super_block: SuperBlock, cycles: u32, limit: u32) {
        if self.replace(lane, super_block, cycles, SimTime::ZERO) {
            self.limits[super_block.index()] = limit;
        }
    }

    /// Begins a run with blocks in use of `cycles` together; `end` is the mean at which the first lane lacks a reserved block.
    pub(super) fn begin_after(&mut self, cycles: u64, end: Option<u32>) {
        self.cycles_at_start = cycles + self.health.retired_cycles;
        self.health.reserve_ends_at = end;
    }

    /// Decides whether the erase of `super_block` fails that is its `cycles`-th, in native cycles; `injected` if a scheduled fault
    /// lets it fail.
    pub(crate) fn erase_fails(&mut self, super_block: SuperBlock, cycles: u32, injected: bool) -> bool {
        let fails = match self.states[super_block.index()] {
            BlockState::Kept => return false,
            BlockState::Failing => return true,
            BlockState::Good => cycles > self.limits[super_block.index()],
        } || injected
            || self.rng.chance(self.erase_failure);
        self.health.erase_failures += u64::from(fails);
        fails
    }

    /// Decides whether a program of `super_block` fails, as it does if a scheduled fault is `injected`. The block of such a
    /// program is emptied and replaced.
    pub(super) fn program_fails(&mut self, super_block: SuperBlock, injected: bool) -> bool {
        let drawn = || injected || self.program_failure > 0 && self.rng.chance(self.program_failure);
        if self.states[super_block.index()] == BlockState::Kept || !{ drawn }() {
            return false;
        }
        self.states[super_block.index()] = BlockState::Failing;
        self.health.program_failures += 1;
        true
    }

    /// Whether a program of `super_block` has failed and the block is not replaced yet.
    pub(super) fn is_failing(&self, super_block: SuperBlock) -> bool {
        self.states[super_block.index()] == BlockState::Failing
    }

    /// Replaces the failed `super_block` of `lane` after its last, `cycles`-th erase. Without a reserved block it stays in
    /// use, and the drive is read-only from `now` on; returns whether it was replaced.
    pub(super) fn replace(&mut self, lane: Lane, super_block: SuperBlock, cycles: u32, now: SimTime) -> bool {
        let replaced = self.take_spare(lane, super_block, cycles);
        if !replaced {
            self.states[super_block.index()] = BlockState::Kept;
            self.health.read_only_since.get_or_insert(now);
        }
        replaced
    }

    /// Counts the failure of `super_block` of `lane` in its `cycles`-th erase, and replaces it; false if the lane has no
    /// reserved block.
    pub(crate) fn take_spare(&mut self, lane: Lane, super_block: SuperBlock, cycles: u32) -> bool {
        let (left, _) = &mut self.spares[lane.index()];
        self.health.grown_bad_blocks += 1;
        if *left == 0 {
            return false;
        }
        *left -= 1;
        self.states[super_block.index()] = BlockState::Good;
        self.limits[super_block.index()] = self.endurance.draw();
        self.health.retired_cycles += u64::from(cycles);
        true
    }

    /// Whether a lane needed a reserved block and had none: the drive refuses writes and trims.
    pub(super) fn is_read_only(&self) -> bool {
        self.health.read_only_since.is_some()
    }

    /// Whether programs can fail.
    pub(super) fn fails_programs(&self) -> bool {
        self.keeps_room
    }

    /// The dies that are left do not hold all data: the drive is read-only from `now` on.
    pub(crate) fn dies_exceed_reserve(&mut self, now: SimTime) {
        self.too_few_dies = true;
        self.health.read_only_since.get_or_insert(now);
    }

    /// Health of the drive.
    pub(crate) fn health(&self) -> Health {
        let left = || self.spares.iter().map(|s| u64::from(s.0));
        Health { spare: left().sum(), least_spare_of_lane: left().min().unwrap_or(0), ..self.health }
    }

    /// Compares reserved blocks, failures and cycles with each other and with `erases` since the start. Err is the first
    /// inconsistency.
    pub(crate) fn audit(&self, blocks: &BlockManager) -> Result<(), String> {
        let count = |state| self.states.iter().filter(|&&s| s == state).count() as u64;
        let used = self.replaced();
        let (kept, health) = (count(BlockState::Kept), self.health());
        if health.grown_bad_blocks != used + kept {
            return Err(format!(
                "{} blocks have failed, {used} were replaced and {kept} kept",
                health.grown_bad_blocks
            ));
        }
        if health.read_only_since.is_some() != (kept > 0 || self.too_few_dies) {
            return Err(format!(
                "{kept} blocks could not be replaced, read-only since {:?}",
                health.read_only_since
            ));
        }
        self.audit_cycles(blocks.wear().sum, blocks.counters.erases)
    }

    /// Reserved blocks that have replaced others.
    pub(crate) fn replaced(&self) -> u64 {
        self.spares.iter().map(|&(left, start)| u64::from(start - left)).sum()
    }

    /// Compares the `cycles` of all super blocks with those at the start and the `erases` since. Err is the inconsistency.
    pub(crate) fn audit_cycles(&self, cycles: u64, erases: u64) -> Result<(), String> {
        let cycles = cycles + self.health.retired_cycles;
        if cycles != self.cycles_at_start + erases {
            return Err(format!(
                "blocks have {cycles} cycles, replaced ones included; they had {} and were erased {erases} times",
                self.cycles_at_start
            ));
        }
        Ok(())
    }
}

/// Bad blocks of a plane of `blocks`, at most `reserve`: a plane with more is not sold.
fn factory_bad(rng: &mut Rng, threshold: u64, blocks: u32, reserve: u32) -> u32 {
    loop {
        let bad = (0..blocks).filter(|_| rng.chance(threshold)).count() as u32;
        if bad <= reserve {
            return bad;
        }
    }
}
