//! Mapping state: the only writer of map, validity, versions, out-of-band data and time stamps.
//!
//! ```text
//! admit       host -> cache        commit_program  cache -> flash       moved   flash -> flash
//! invalidate  flash -> nothing     trim            anywhere -> nothing  erase   the block itself
//! ```

use crate::audit::VersionAudit;
use crate::cache::{Cache, NO_FLASH_COPY};
use crate::ftl::layout::{Layout, UnitAt};
use crate::ftl::outcome::Admitted;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::mapping::table::{Map, UNMAPPED, Where};
use crate::ftl::page::power_loss::checkpoint::Entry;
use crate::ftl::page::power_loss::oob::Spare;
use crate::ftl::page::power_loss::state::{FlashView, PowerLossState};
use crate::ftl::page::separation::Hotness;
use crate::numbers::{Lpn, Ppu, Slot, SuperBlock};
use interpulse_engine::{RequestId, SimTime};

/// Policy for flash copies of a unit whose newer version is in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaleCopyPolicy {
    /// Invalidate the copy.
    #[default]
    Forgotten,
    /// Keep the copy: under synthetic write amplification the new version reuses its location.
    Reused,
    /// Keep the copy until the newer version is on flash: a power loss would revert to it.
    Kept,
}

/// Location of every unit.
#[derive(Clone)]
pub struct MappingState {
    map: Map,
    pub(crate) cache: Cache,
    homes: StaleCopyPolicy,
    versions: VersionAudit,
    hotness: Option<Box<Hotness>>,
    /// Power-loss state, if power may be lost.
    record: Option<Box<PowerLossState>>,
}

impl MappingState {
    /// Unmapped state. A run adds cache and power-loss state.
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

    pub(crate) fn share(&mut self) {
        self.map.share();
    }

    /// Copy of a state that no run has used; see [`Map::another`].
    pub(crate) fn another(&self) -> MappingState {
        debug_assert!(self.record.is_none() && self.hotness.is_none(), "a run has begun with it");
        MappingState::new(self.map.another())
    }

    /// Begins a run: sets up cache, version audit and power-loss state.
    pub(crate) fn begin(
        &mut self,
        cache: Cache,
        homes: StaleCopyPolicy,
        versions: VersionAudit,
        record: Option<Box<PowerLossState>>,
    ) {
        (self.cache, self.homes, self.versions, self.record) = (cache, homes, versions, record);
    }

    pub(crate) fn follow_hotness(&mut self, hotness: Option<Box<Hotness>>) {
        self.hotness = hotness;
    }

    // ---- queries ------------------------------------------------------------------------------------------

    /// Mapping tables.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Hotness filter, if host data is separated.
    #[inline]
    pub fn hotness(&self) -> Option<&Hotness> {
        self.hotness.as_deref()
    }

    pub(crate) fn record(&self) -> Option<&PowerLossState> {
        self.record.as_deref()
    }

    /// Power-loss state, to begin and end checkpoints.
    pub(crate) fn record_mut(&mut self) -> Option<&mut PowerLossState> {
        self.record.as_deref_mut()
    }

    /// Power-loss state, if power may be lost, and the locations of all units.
    pub(crate) fn record_and_view(&mut self) -> Option<(&mut PowerLossState, FlashView<'_>)> {
        let view =
            FlashView { map: &self.map, cache: &self.cache, keeps: self.homes == StaleCopyPolicy::Kept };
        self.record.as_deref_mut().map(|record| (record, view))
    }

    /// Flash location of `lpn` with its version, if power may be lost.
    pub(crate) fn flash_entry(&self, lpn: Lpn) -> Option<Entry> {
        let view =
            FlashView { map: &self.map, cache: &self.cache, keeps: self.homes == StaleCopyPolicy::Kept };
        self.record.as_ref().and_then(|record| view.entry(&record.oob, lpn))
    }

    #[inline]
    pub(crate) fn keeps_stale_copies(&self) -> bool {
        self.homes == StaleCopyPolicy::Kept
    }

    pub(crate) fn versions_checked(&self) -> u64 {
        self.versions.checked
    }

    /// Version audit, for acknowledgements and the end of a run.
    pub(crate) fn versions(&mut self) -> &mut VersionAudit {
        &mut self.versions
    }

    /// Looks up the location of `lpn`; the version audit checks the result.
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

    /// Newest version of `lpn`; 0 for units that the version audit does not follow.
    pub(crate) fn newest_version(&self, lpn: Lpn) -> u32 {
        if self.versions.follows(lpn) { self.versions.newest(lpn) } else { 0 }
    }

    /// Checks a read of `lpn` that returned a copy of `version`.
    pub(crate) fn check_copy(&mut self, lpn: Lpn, version: u32) {
        if self.versions.follows(lpn) {
            self.versions.read_copy(lpn, version);
        }
    }

    /// Audits a read of every tracked unit of the first `logical`, those of the host.
    pub(crate) fn read_everything(&mut self, logical: u32) {
        for lpn in Lpn::first(logical) {
            self.look_up(lpn);
        }
    }

    // ---- host writes and trims ----------------------------------------------------------------------------

    /// Admits a host write of `lpn`, located at `at`, for request `tag` to the cache, on dirty list `list`. With `absorbs`
    /// it replaces an older version that is still dirty.
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
                self.note_written(tag, lpn, slot, true);
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
        self.note_written(tag, lpn, slot, false);
        Admitted::Slot(slot)
    }

    #[inline]
    fn note_written(&mut self, tag: RequestId, lpn: Lpn, slot: Slot, absorbed: bool) {
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
            if let Some(record) = &mut self.record {
                record.slots[slot.index()] = record.oob.next_version();
                self.versions.belongs(tag, lpn);
                self.versions.note_written(lpn, absorbed);
            }
        }
    }

    /// Trims `lpn` for request `tag`. Returns whether the unit was mapped, and its cache slot if it was dirty.
    pub(crate) fn trim(&mut self, layout: &Layout, tag: RequestId, lpn: Lpn) -> (bool, Option<Slot>) {
        let mut killed = None;
        match self.map.get(lpn) {
            Where::Unmapped => {
                self.versions.note_empty(lpn);
                return (false, None);
            }
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
            self.versions.note_trimmed(lpn, killed.is_some());
            record.journal_trim(lpn);
        }
        (true, killed)
    }

    #[inline]
    pub(crate) fn invalidate_copy(&mut self, layout: &Layout, ppu: Ppu) {
        let UnitAt { super_block, offset } = layout.split(ppu);
        self.map.invalidate(super_block, offset);
    }

    // ---- programs ---------------------------------------------------------------------------------------

    /// Takes up to `most` dirty units of `list` for a program to `place`, if known; appends their slots.
    pub(crate) fn take_dirty(
        &mut self,
        layout: &Layout,
        list: usize,
        most: u32,
        place: Option<&ProgramAddress>,
        slots: &mut Vec<Slot>,
    ) {
        let first = slots.len() as u32;
        for k in first..first + most {
            let Some((slot, lpn)) = self.cache.take_dirty(list) else { break };
            if let Some(place) = place {
                self.map.set_logical(layout.unit(place.unit(layout, k)), lpn);
            }
            slots.push(slot);
        }
        self.cache.free_dead(list);
    }

    #[inline]
    pub(crate) fn assign(&mut self, ppu: Ppu, lpn: Lpn) {
        self.map.set_logical(ppu, lpn);
    }

    /// Writes the out-of-band data of a host program that stored the units of `slots` in `place`. Where the cache is
    /// volatile, these copies become the ones that a power loss reverts to.
    #[cold]
    pub(crate) fn describe_landing(&mut self, layout: &Layout, slots: &[Slot], place: &ProgramAddress) {
        let Some(record) = &mut self.record else { return };
        let written = record.oob.program();
        if place.reprogram.is_some() {
            let first = layout.first_unit(place.super_block);
            for run in place.runs(layout, place.units(layout) as usize) {
                record.oob.erase(first + run.offset, run.units.len() as u32);
            }
        }
        for (k, &slot) in (0..).zip(slots) {
            let ppu = layout.unit(place.unit(layout, k));
            let lpn = self.cache.lpn(slot);
            let record = self.record.as_mut().expect("power may be lost");
            let version = record.slots[slot.index()];
            record.describe(ppu, Spare { lpn, version, written });
            // Recorded even if the map does not point there: a power loss may undo a trim.
            self.versions.programmed(lpn, slot, ppu);
            self.versions.note_durable(lpn, slot);
            if self.homes == StaleCopyPolicy::Kept {
                self.restore_flash_copy(layout, slot, ppu, version);
            }
        }
    }

    /// Notes that the version in `slot` is also in `ppu`; of several flash copies the newest is kept.
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

    /// Commits a program of `slot` to unit `offset` of a super block, or in place of its older copy, and frees the slot.
    /// The map follows if the version is still the newest. `arrived` is the time of the write, where units have time
    /// stamps.
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

    /// Copies the out-of-band data of relocated units from their sources to the units of `place` from the `first` on.
    #[cold]
    pub(crate) fn describe_move(
        &mut self,
        layout: &Layout,
        units: &[Relocation],
        place: &ProgramAddress,
        first: u32,
    ) {
        let Some(record) = &mut self.record else { return };
        let written = record.oob.program();
        for (k, &Relocation { lpn, source }) in (first..).zip(units) {
            let ppu = layout.unit(place.unit(layout, k));
            let version = record.oob.read(source).version;
            record.describe(ppu, Spare { lpn, version, written });
            self.versions.moved(lpn, source, ppu);
        }
    }

    /// Commits the relocation of a unit from `from` to `to`, if its copy is still needed.
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

    /// Slot with the newer version of `lpn`, if its flash copy is kept.
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

    /// Unit in `slot`, if no newer version of it exists.
    pub(crate) fn newest_in(&self, slot: Slot) -> Option<Lpn> {
        let lpn = self.cache.lpn(slot);
        (self.map.get(lpn) == Where::Cache(slot)).then_some(lpn)
    }

    /// Maps the translation page with unit `lpn` to unit `offset` of `super_block`, instead of where it was.
    pub(crate) fn replace(&mut self, layout: &Layout, lpn: Lpn, super_block: SuperBlock, offset: u32) {
        if let Where::Flash(before) = self.map.get(lpn) {
            self.invalidate_copy(layout, before);
        }
        self.map.commit(lpn, super_block, offset);
    }

    // ---- blocks -----------------------------------------------------------------------------------------

    #[inline]
    pub(crate) fn set_candidate(&mut self, super_block: SuperBlock, candidate: bool) {
        self.map.set_candidate(super_block, candidate);
    }

    /// Stamps `super_block`, or its next super layer, with the arrival `at` of its first data.
    pub(crate) fn stamp_block(&mut self, super_block: SuperBlock, at: SimTime) {
        self.hotness.as_mut().expect("host data is separated").stamp(super_block, at);
    }

    /// Stamps `to` with the age of `from`, the source of its first relocated unit.
    pub(crate) fn inherit_stamp(&mut self, to: SuperBlock, from: SuperBlock) {
        if let Some(hotness) = &mut self.hotness {
            hotness.inherit(to, from);
        }
    }

    #[inline]
    pub(crate) fn erase(&mut self, layout: &Layout, super_block: SuperBlock) {
        let valid = self.map.valid_units(super_block);
        assert_eq!(valid, 0, "block {super_block} was erased with valid data");
        if let Some(record) = &mut self.record {
            record.oob.erase(layout.first_unit(super_block), layout.units_per_block);
        }
    }

    // ---- preconditioning ------------------------------------------------------------------------------------

    #[inline]
    pub(crate) fn write(&mut self, layout: &Layout, lpn: Lpn, super_block: SuperBlock, offset: u32) {
        self.map.set_logical(layout.first_unit(super_block) + offset, lpn);
        self.map.commit(lpn, super_block, offset);
    }

    #[inline]
    pub(crate) fn write_run(&mut self, lpn: Lpn, count: u32, super_block: SuperBlock, offset: u32) {
        self.map.commit_run(lpn, count, super_block, offset);
    }

    /// [`MappingState::trim`] without time and cache.
    pub(crate) fn discard(&mut self, layout: &Layout, lpn: Lpn) {
        if let Where::Flash(ppu) = self.map.get(lpn) {
            self.invalidate_copy(layout, ppu);
        }
        self.map.set_unmapped(lpn);
    }

    #[inline(always)]
    pub(crate) fn each_valid(&self, layout: &Layout, super_block: SuperBlock, each: impl FnMut(Ppu)) {
        bit_scan::each_one(self.map.valid_words(super_block), layout.first_unit(super_block), each);
    }

    /// Moves the valid units of `super_block`, in order, to `into` and excludes the block from collection.
    pub(crate) fn take_all(&mut self, layout: &Layout, super_block: SuperBlock, into: &mut Vec<Lpn>) {
        self.each_valid(layout, super_block, |ppu| into.push(self.map.logical(ppu)));
        self.map.clear_block(super_block);
    }

    pub(crate) fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    // ---- power loss -----------------------------------------------------------------------------------------

    /// A torn reprogram leaves nothing in these units.
    pub(crate) fn tear(&mut self, units: impl Iterator<Item = Ppu>) {
        let record = self.record.as_mut().expect("power may be lost");
        for ppu in units {
            record.oob.erase(ppu, 1);
            self.versions.torn(ppu);
        }
    }

    /// Replaces the map by `places`, the physical unit of each logical one; no block may be collected yet.
    pub(crate) fn restore(&mut self, layout: &Layout, places: &[Ppu]) {
        for block in SuperBlock::first(layout.super_blocks()) {
            self.map.clear_block(block);
        }
        for (lpn, &place) in (0..).map(Lpn).zip(places) {
            if place == UNMAPPED {
                self.map.set_unmapped(lpn);
            } else {
                let UnitAt { super_block: block, offset } = layout.split(place);
                // A reprogram that had not begun has assigned the unit to other data.
                self.map.set_logical(place, lpn);
                self.map.commit(lpn, block, offset);
            }
        }
    }

    /// Drops the cache except `kept`, unmapped by recovery. Returns the old and new slot of each.
    pub(crate) fn restore_cache(&mut self, kept: &[(Slot, Lpn)]) -> Vec<(Slot, Slot)> {
        let record = self.record.as_mut().expect("power may be lost");
        let before_slots = record.slots.clone();
        let emptied = Cache::new(before_slots.len() as u32, self.cache.lists() as u32);
        let before = std::mem::replace(&mut self.cache, emptied);
        let mut pairs = Vec::with_capacity(kept.len());
        for &(slot, lpn) in kept {
            let new = self.cache.admit(lpn, before.list(slot), NO_FLASH_COPY);
            let new = new.expect("the restored units fit the cache");
            self.map.set_cached(lpn, new);
            record.slots[new.index()] = before_slots[slot.index()];
            pairs.push((slot, new));
        }
        self.versions.slots_moved(&pairs);
        pairs
    }
}
