//! Mapping state: the only writer of map, validity, versions, out-of-band data and time stamps.
//!
//! ```text
//! admit   host -> cache        land    cache -> flash       moved   flash -> flash
//! forget  flash -> nothing     trim    anywhere -> nothing  erase   the block itself
//! ```

use crate::audit::VersionAudit;
use crate::cache::{Cache, NO_FLASH_COPY};
use crate::ftl::page::blocks::layout::{Layout, UnitAt};
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::mapping::table::{Map, UNMAPPED, Where};
use crate::ftl::page::power_loss::checkpoint::Entry;
use crate::ftl::page::power_loss::oob::Spare;
use crate::ftl::page::power_loss::state::PowerLossState;
use crate::ftl::page::separation::Hotness;
use crate::numbers::{Lpn, Ppu, Slot, SuperBlock};
use interpulse_engine::{RequestId, SimTime};

/// Which copies on flash stay valid while a newer version is in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaleCopyPolicy {
    /// None.
    #[default]
    Forgotten,
    /// All: under imposed write amplification the new version goes where the old one is.
    Reused,
    /// All, until the newer version is on flash: a loss of power would bring them back.
    Kept,
}

/// What became of a unit that the host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// It is in this slot of the cache.
    Slot(Slot),
    /// It has taken the place of what waited in the cache.
    Absorbed,
    /// There is no free slot.
    Full,
}

/// The places of all units.
#[derive(Clone)]
pub struct MappingState {
    map: Map,
    /// The write cache.
    pub(crate) cache: Cache,
    homes: StaleCopyPolicy,
    versions: VersionAudit,
    /// The hotness filter, if host data is separated.
    hotness: Option<Box<Hotness>>,
    /// What is kept for a loss of power, if power may be lost.
    record: Option<Box<PowerLossState>>,
}

impl MappingState {
    /// Nothing is anywhere yet. Until a run begins there is no cache and no record.
    pub(crate) fn new(map: Map) -> MappingState {
        MappingState {
            map,
            cache: Cache::new(0, 0),
            homes: StaleCopyPolicy::Forgotten,
            versions: VersionAudit::default(),
            hotness: None,
            record: None,
        }
    }

    /// See [`Map::share`].
    pub(crate) fn share(&mut self) {
        self.map.share();
    }

    /// Another one like this one, with which no run has begun; see [`Map::another`].
    pub(crate) fn another(&self) -> MappingState {
        debug_assert!(self.record.is_none() && self.hotness.is_none(), "a run has begun with it");
        MappingState::new(self.map.another())
    }

    /// A run begins: with a cache, an audit of versions, and what is kept for a loss of power.
    pub(crate) fn begin(
        &mut self,
        cache: Cache,
        homes: StaleCopyPolicy,
        versions: VersionAudit,
        record: Option<Box<PowerLossState>>,
    ) {
        (self.cache, self.homes, self.versions, self.record) = (cache, homes, versions, record);
    }

    /// Follows how hot units are.
    pub(crate) fn follow_hotness(&mut self, hotness: Option<Box<Hotness>>) {
        self.hotness = hotness;
    }

    // ---- what is asked ----------------------------------------------------------------------------------

    /// The tables.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The hotness filter, if host data is separated.
    #[inline]
    pub fn hotness(&self) -> Option<&Hotness> {
        self.hotness.as_deref()
    }

    /// What is kept for a loss of power, if power may be lost.
    pub(crate) fn record(&self) -> Option<&PowerLossState> {
        self.record.as_deref()
    }

    /// As [`MappingState::record`], to begin and end checkpoints.
    pub(crate) fn record_mut(&mut self) -> Option<&mut PowerLossState> {
        self.record.as_deref_mut()
    }

    /// Whether the copy on flash of a unit is kept until the newer version in the cache is programmed.
    #[inline]
    pub(crate) fn keeps_stale_copies(&self) -> bool {
        self.homes == StaleCopyPolicy::Kept
    }

    /// Reads that the record of versions has checked.
    pub(crate) fn versions_checked(&self) -> u64 {
        self.versions.checked
    }

    /// The record of versions, for what the host is told of requests and for the end of a run.
    pub(crate) fn versions(&mut self) -> &mut VersionAudit {
        &mut self.versions
    }

    /// Looks up where `lpn` is read from; the record of versions checks what is there.
    #[inline]
    pub(crate) fn look_up(&mut self, lpn: Lpn) -> Where {
        let at = self.map.get(lpn);
        if self.versions.follows(lpn) {
            self.check_version(lpn, at);
        }
        at
    }

    #[cold]
    fn check_version(&mut self, lpn: Lpn, at: Where) {
        match at {
            Where::Flash(ppu) => self.versions.read_flash(lpn, ppu),
            Where::Cache(slot) => self.versions.read_cache(lpn, slot),
            Where::Unmapped => self.versions.read_nothing(lpn),
        }
    }

    /// Has the record of versions check what a read of every unit that it follows would return now.
    pub(crate) fn read_everything(&mut self) {
        for lpn in Lpn::first(self.map.logical_units()) {
            self.look_up(lpn);
        }
    }

    // ---- the host writes and trims ----------------------------------------------------------------------

    /// The host writes `lpn`, which is `at`, for request `tag`: the new version enters the cache, on dirty list `list`;
    /// `absorbs` lets it take the place of an older one that waits there.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        layout: &Layout,
        tag: RequestId,
        lpn: Lpn,
        at: Where,
        list: usize,
        absorbs: bool,
    ) -> Admitted {
        let mut home = NO_FLASH_COPY;
        match at {
            Where::Cache(slot) if absorbs && self.cache.is_dirty(slot) => {
                self.note_written(tag, lpn, slot);
                return Admitted::Absorbed;
            }
            Where::Cache(slot) => home = self.cache.home(slot),
            Where::Flash(ppu) if self.homes != StaleCopyPolicy::Forgotten => home = ppu,
            Where::Flash(_) | Where::Unmapped => {}
        }
        let Some(slot) = self.cache.admit(lpn, list, home) else { return Admitted::Full };
        if let (Where::Flash(ppu), StaleCopyPolicy::Forgotten) = (at, self.homes) {
            self.invalidate_copy(layout, ppu);
        }
        self.map.set_cached(lpn, slot);
        self.note_written(tag, lpn, slot);
        Admitted::Slot(slot)
    }

    #[inline]
    fn note_written(&mut self, tag: RequestId, lpn: Lpn, slot: Slot) {
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
            if let Some(record) = &mut self.record {
                record.slots[slot.index()] = record.oob.next_version();
                self.versions.belongs(tag, lpn);
            }
        }
    }

    /// The host trims `lpn` with request `tag`: whether it held anything, and the slot of the cache in which it waited to be
    /// programmed, if it did.
    pub(crate) fn trim(&mut self, layout: &Layout, tag: RequestId, lpn: Lpn) -> (bool, Option<Slot>) {
        let mut killed = None;
        match self.map.get(lpn) {
            Where::Unmapped => return (false, None),
            Where::Flash(ppu) => self.invalidate_copy(layout, ppu),
            Where::Cache(slot) => {
                if self.keeps_stale_copies() && self.cache.home(slot) != NO_FLASH_COPY {
                    self.invalidate_copy(layout, self.cache.home(slot));
                }
                if self.cache.is_dirty(slot) {
                    self.cache.kill_dirty(slot);
                    killed = Some(slot);
                }
            }
        }
        self.map.set_unmapped(lpn);
        if self.versions.follows(lpn) {
            self.versions.trimmed(lpn);
        }
        if let Some(record) = &mut self.record {
            self.versions.belongs(tag, lpn);
            record.journal_trim(lpn);
        }
        (true, killed)
    }

    /// The unit in `ppu` no longer holds the newest version of anything: it becomes invalid.
    #[inline]
    pub(crate) fn invalidate_copy(&mut self, layout: &Layout, ppu: Ppu) {
        let UnitAt { super_block, offset } = layout.split(ppu);
        self.map.invalidate(super_block, offset);
    }

    // ---- programs ---------------------------------------------------------------------------------------

    /// Takes up to `most` dirty units of `list` for a program under way, which writes them to `first` and after it if
    /// that is known; their slots are added to `slots`.
    pub(crate) fn take_dirty(&mut self, list: usize, most: u32, first: Option<Ppu>, slots: &mut Vec<Slot>) {
        for k in 0..most {
            let Some((slot, lpn)) = self.cache.take_dirty(list) else { break };
            if let Some(first) = first {
                self.map.set_logical(first + k, lpn);
            }
            slots.push(slot);
        }
        self.cache.free_dead(list);
    }

    /// A program under way writes `lpn` to `ppu`.
    #[inline]
    pub(crate) fn assign(&mut self, ppu: Ppu, lpn: Lpn) {
        self.map.set_logical(ppu, lpn);
    }

    /// A program of host data has ended, the units of `slots` are in `first` and after it: they say what they are. Where
    /// the cache may be lost, each is the copy that a loss of power would bring back from now on.
    #[cold]
    pub(crate) fn describe_landing(&mut self, layout: &Layout, slots: &[Slot], first: Ppu) {
        let Some(record) = &mut self.record else { return };
        let written = record.oob.program();
        for (k, &slot) in (0..).zip(slots) {
            let ppu = first + k;
            let lpn = self.cache.lpn(slot);
            let record = self.record.as_mut().expect("power may be lost");
            let version = record.slots[slot.index()];
            record.describe(ppu, Spare { lpn, version, written });
            // It is there whether or not the map will say so: a cut may undo a trim.
            self.versions.programmed(lpn, slot, ppu);
            if self.homes == StaleCopyPolicy::Kept {
                self.restore_flash_copy(layout, slot, ppu, version);
            }
        }
    }

    /// What is in `slot`, of this version, is in `ppu` now, too: of the copies on flash the newest is kept.
    fn restore_flash_copy(&mut self, layout: &Layout, slot: Slot, ppu: Ppu, version: u32) {
        let lpn = self.cache.lpn(slot);
        let Where::Cache(newest) = self.map.get(lpn) else { return };
        let home = self.cache.home(newest);
        let record = self.record.as_ref().expect("power may be lost");
        let known = if home == NO_FLASH_COPY { 0 } else { record.oob.read(home).version };
        if newest != slot && (version < known || version <= record.checkpoint.trimmed(lpn)) {
            return;
        }
        if home != NO_FLASH_COPY {
            self.invalidate_copy(layout, home);
        }
        if newest == slot {
            self.cache.set_home(slot, NO_FLASH_COPY);
        } else {
            self.cache.set_home(newest, ppu);
            let UnitAt { super_block, offset } = layout.split(ppu);
            self.map.keep(super_block, offset);
        }
    }

    /// What was in `slot` is programmed: to unit `offset` of a super block, or where its older copy is. It is mapped there
    /// if it is still the newest version; what was overwritten or trimmed meanwhile is stale on flash. `arrived` is when it
    /// was written, where units have time stamps. The slot is free.
    #[inline(always)]
    pub(crate) fn commit_program(
        &mut self,
        layout: &Layout,
        slot: Slot,
        to: impl FnOnce() -> Option<UnitAt>,
        arrived: impl FnOnce() -> Option<SimTime>,
    ) {
        let lpn = self.cache.lpn(slot);
        if self.map.get(lpn) == Where::Cache(slot) {
            let ppu = match to() {
                Some(at) => {
                    self.map.commit(lpn, at.super_block, at.offset);
                    layout.unit(at)
                }
                None => {
                    let home = self.cache.home(slot);
                    self.map.set_physical(lpn, home);
                    home
                }
            };
            if self.versions.follows(lpn) {
                self.versions.programmed(lpn, slot, ppu);
            }
            if let Some(hotness) = &mut self.hotness
                && let Some(at) = arrived()
            {
                hotness.stamp_unit(ppu, at);
            }
        }
        self.cache.programmed(slot);
    }

    /// A program of moved data has ended: the units from `first` on say the same as their sources.
    #[cold]
    pub(crate) fn describe_move(&mut self, units: &[Relocation], first: Ppu) {
        let Some(record) = &mut self.record else { return };
        let written = record.oob.program();
        for (k, &Relocation { lpn, source }) in (0..).zip(units) {
            let ppu = first + k;
            let version = record.oob.read(source).version;
            record.describe(ppu, Spare { lpn, version, written });
            self.versions.moved(lpn, source, ppu);
        }
    }

    /// The copy of a unit in its source, which is at `from`, is at `to`, too, and is that from now on, if it is still needed.
    #[inline(always)]
    pub(crate) fn moved(
        &mut self,
        layout: &Layout,
        Relocation { lpn, source }: Relocation,
        from: UnitAt,
        to: UnitAt,
    ) {
        if !self.map.invalidate_if_valid(from.super_block, from.offset) {
            return;
        }
        match self.flash_copy_of_cached(lpn) {
            Some(slot) => {
                self.cache.set_home(slot, layout.unit(to));
                self.map.keep(to.super_block, to.offset);
            }
            None => self.map.commit(lpn, to.super_block, to.offset),
        }
        let ppu = || layout.unit(to);
        if let Some(hotness) = &mut self.hotness {
            hotness.moved_unit(source, ppu());
        }
        if self.versions.follows(lpn) {
            self.versions.moved(lpn, source, ppu());
        }
    }

    /// The slot with the newer version of `lpn`, if its copy on flash is kept beside that.
    #[inline]
    fn flash_copy_of_cached(&self, lpn: Lpn) -> Option<Slot> {
        match self.homes {
            StaleCopyPolicy::Kept => match self.map.get(lpn) {
                Where::Cache(slot) => Some(slot),
                Where::Flash(_) | Where::Unmapped => None,
            },
            StaleCopyPolicy::Forgotten | StaleCopyPolicy::Reused => None,
        }
    }

    // ---- blocks -----------------------------------------------------------------------------------------

    /// Nothing more is written to `super_block`, or it may not be collected any more.
    #[inline]
    pub(crate) fn set_candidate(&mut self, super_block: SuperBlock, candidate: bool) {
        self.map.set_candidate(super_block, candidate);
    }

    /// The first data of `super_block`, or of its next super layer, arrived at `at`.
    pub(crate) fn stamp_block(&mut self, super_block: SuperBlock, at: SimTime) {
        self.hotness.as_mut().expect("host data is separated").stamp(super_block, at);
    }

    /// The data of `to` begins with what is moved there from `from`: it is as old as that.
    pub(crate) fn inherit_stamp(&mut self, to: SuperBlock, from: SuperBlock) {
        if let Some(hotness) = &mut self.hotness {
            hotness.inherit(to, from);
        }
    }

    /// `super_block` has been erased: its units say nothing.
    #[inline]
    pub(crate) fn erase(&mut self, layout: &Layout, super_block: SuperBlock) {
        let valid = self.map.valid_units(super_block);
        assert_eq!(valid, 0, "block {super_block} was erased with valid data");
        if let Some(record) = &mut self.record {
            record.oob.erase(layout.first_unit(super_block), layout.units_per_block);
        }
    }

    /// Begins a checkpoint of where every unit is on flash, over blocks in these states; returns its pages, `None` while the
    /// one before is being written.
    pub(crate) fn begin_checkpoint(&mut self, blocks: Vec<(u32, bool)>) -> Option<u64> {
        let (map, cache, keeps) = (&self.map, &self.cache, self.homes == StaleCopyPolicy::Kept);
        let record = self.record.as_mut().expect("power may be lost");
        let oob = &record.oob;
        let at = |place| Some(Entry { place, version: oob.read(place).version });
        record.checkpoint.begin(oob.mark(), blocks, |lpn| match map.get(lpn) {
            Where::Flash(ppu) => at(ppu),
            Where::Cache(slot) if keeps && cache.home(slot) != NO_FLASH_COPY => at(cache.home(slot)),
            Where::Cache(_) | Where::Unmapped => None,
        })
    }

    // ---- without time -----------------------------------------------------------------------------------

    /// Preconditioning writes `lpn` to unit `offset` of `super_block`.
    #[inline]
    pub(crate) fn write(&mut self, layout: &Layout, lpn: Lpn, super_block: SuperBlock, offset: u32) {
        self.map.set_logical(layout.first_unit(super_block) + offset, lpn);
        self.map.commit(lpn, super_block, offset);
    }

    /// The same of `count` units in order.
    #[inline]
    pub(crate) fn write_run(&mut self, lpn: Lpn, count: u32, super_block: SuperBlock, offset: u32) {
        self.map.commit_run(lpn, count, super_block, offset);
    }

    /// As [`MappingState::trim`], without time and without a cache.
    pub(crate) fn discard(&mut self, layout: &Layout, lpn: Lpn) {
        if let Where::Flash(ppu) = self.map.get(lpn) {
            self.invalidate_copy(layout, ppu);
        }
        self.map.set_unmapped(lpn);
    }

    /// Calls `each` for what is valid in `super_block`, in order.
    #[inline(always)]
    pub(crate) fn each_valid(&self, layout: &Layout, super_block: SuperBlock, each: impl FnMut(Ppu)) {
        bit_scan::each_one(self.map.valid_words(super_block), layout.first_unit(super_block), each);
    }

    /// Preconditioning takes everything valid out of `super_block`, in order, which it leaves without valid units and not to be
    /// collected.
    pub(crate) fn take_all(&mut self, layout: &Layout, super_block: SuperBlock, into: &mut Vec<Lpn>) {
        self.each_valid(layout, super_block, |ppu| into.push(self.map.logical(ppu)));
        self.map.clear_block(super_block);
    }

    /// The tables, to restore them from a snapshot.
    pub(crate) fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    // ---- a loss of power --------------------------------------------------------------------------------

    /// The map becomes `places`, the physical unit of each logical one; no block may be collected yet.
    pub(crate) fn restore(&mut self, layout: &Layout, places: &[Ppu]) {
        for block in SuperBlock::first(layout.super_blocks()) {
            self.map.clear_block(block);
        }
        for (lpn, &place) in (0..).map(Lpn).zip(places) {
            if place == UNMAPPED {
                self.map.set_unmapped(lpn);
            } else {
                let UnitAt { super_block: block, offset } = layout.split(place);
                self.map.commit(lpn, block, offset);
            }
        }
    }

    /// What is in the cache is gone but for `kept`, slots and units, whose map entries recovery has emptied. Returns the slot
    /// each was in and the one it is in now.
    pub(crate) fn restore_cache(&mut self, kept: &[(Slot, Lpn)]) -> Vec<(Slot, Slot)> {
        let record = self.record.as_mut().expect("power may be lost");
        let before_slots = record.slots.clone();
        let emptied = Cache::new(before_slots.len() as u32, self.cache.lists() as u32);
        let before = std::mem::replace(&mut self.cache, emptied);
        let mut pairs = Vec::with_capacity(kept.len());
        for &(slot, lpn) in kept {
            let new = self.cache.admit(lpn, before.list(slot), NO_FLASH_COPY);
            let new = new.expect("it was in a cache of this size");
            self.map.set_cached(lpn, new);
            record.slots[new.index()] = before_slots[slot.index()];
            pairs.push((slot, new));
        }
        self.versions.slots_moved(&pairs);
        pairs
    }
}
