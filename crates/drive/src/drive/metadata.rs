//! What a drive that may lose power writes besides data: out-of-band data with every unit, checkpoints of the map, and
//! trims where memory does not survive.
//!
//! Checkpoints and trims go to an area of their own, as programs in the dies' queues, lane after lane. The erases of that
//! area are not simulated.

use super::Drive;
use super::jobs::ProgramJob;
use super::power_loss::{State, block_states};
use crate::cache::NO_SLOT;
use crate::ftl::checkpoint::Entry;
use crate::ftl::map::Where;
use crate::ftl::oob::Spare;
use interpulse_engine::Agenda;
use interpulse_flash::nand::txn::{Kind, Txn};

/// Programs of moved data with an owner from here on write metadata; the rest of the number is that of their group.
pub(super) const METADATA: u32 = 1 << 31;

/// What happens when metadata is on flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// The checkpoint counts.
    Checkpoint,
    /// The flush of this request is done.
    Flush(u32),
    /// This super block is erased.
    Erase(u32),
}

/// Metadata being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    then: Then,
    /// Trims up to this version are among it.
    version: u32,
    programs: u64,
}

impl Drive {
    /// The newest version of `lpn` is of request `id`, in `slot` of the cache.
    #[inline]
    pub(super) fn note_write(&mut self, id: u32, lpn: u32, slot: u32) {
        if let Some(power) = &mut self.power {
            power.slots[slot as usize] = power.oob.next_version();
            self.versions.belongs(id, lpn);
        }
    }

    // ---- out-of-band data -----------------------------------------------------------------------------

    /// A program of host data has ended: its units say what they are. Where the cache may be lost, each is the copy that a
    /// loss of power would bring back from now on.
    pub(super) fn host_units_written(&mut self, job: &ProgramJob) {
        let place = job.place.expect("imposed write amplification loses no power");
        let first = self.ftl.layout.first_unit(place.super_block) + place.first_offset;
        let written = self.power.as_mut().expect("power may be lost").oob.program();
        for (k, &slot) in (0..).zip(&job.units[..job.host_units()]) {
            let (lpn, ppu) = (self.cache.lpn(slot), first + k);
            let power = self.power.as_mut().expect("power may be lost");
            let version = power.slots[slot as usize];
            power.oob.write(ppu, Spare { lpn, version, written });
            power.checkpoint.touch(lpn);
            // It is there whether or not the map will say so: a cut may undo a trim.
            self.versions.programmed(lpn, slot, ppu);
            if !self.keeps_homes {
                continue;
            }
            let Where::Cache(newest) = self.ftl.map.get(lpn) else { continue };
            let home = self.cache.home(newest);
            let power = self.power.as_ref().expect("power may be lost");
            let known = if home == NO_SLOT { 0 } else { power.oob.read(home).version };
            if newest != slot && (version < known || version <= power.checkpoint.trimmed(lpn)) {
                continue;
            }
            if home != NO_SLOT {
                self.ftl.forget_flash(home);
            }
            if newest == slot {
                self.cache.set_home(slot, NO_SLOT);
            } else {
                self.cache.set_home(newest, ppu);
                self.ftl.map.keep(place.super_block, place.first_offset + k);
            }
        }
    }

    /// A program of moved data has ended: its units say the same as their sources.
    pub(super) fn moved_units_written(&mut self, job: &ProgramJob, first: u32) {
        let power = self.power.as_mut().expect("power may be lost");
        let written = power.oob.program();
        for (k, (&lpn, &source)) in (0..).zip(job.units.iter().zip(&job.sources)) {
            let version = power.oob.read(source).version;
            power.oob.write(first + k, Spare { lpn, version, written });
            power.checkpoint.touch(lpn);
            self.versions.moved(lpn, source, first + k);
        }
    }

    /// Whether the copy of `lpn` that has been moved to `ppu` is one whose newer version is in the cache.
    pub(super) fn keep_moved(&mut self, lpn: u32, ppu: u32) -> bool {
        let Where::Cache(slot) = self.ftl.map.get(lpn) else { return false };
        self.cache.set_home(slot, ppu);
        true
    }

    pub(super) fn block_erased(&mut self, super_block: u32) {
        let power = self.power.as_mut().expect("power may be lost");
        power.oob.erase(self.ftl.layout.first_unit(super_block), self.ftl.layout.units_per_block);
        power.broken[super_block as usize] = false;
    }

    // ---- trims ----------------------------------------------------------------------------------------

    pub(super) fn journal_trim(&mut self, lpn: u32) {
        let durable = self.spec.cache.protected;
        let power = self.power.as_mut().expect("power may be lost");
        let version = power.oob.next_version();
        power.checkpoint.trim(lpn, version, durable);
    }

    /// All that a flush waits for is programmed or trimmed: true if it has to wait for trims to be written.
    pub(super) fn journal_before_flush_ends(&mut self, agenda: &mut Agenda, id: u32) -> bool {
        self.journal(agenda, Then::Flush(id))
    }

    /// A block is to be erased: true if that has to wait for trims to be written. Otherwise a cut could undo a trim whose
    /// data is gone, and bring back older data.
    pub(super) fn journal_before_erase(&mut self, agenda: &mut Agenda, super_block: u32) -> bool {
        self.journal(agenda, Then::Erase(super_block))
    }

    fn journal(&mut self, agenda: &mut Agenda, then: Then) -> bool {
        let waits = self.power.as_ref().is_some_and(|power| power.checkpoint.has_unwritten());
        if waits {
            self.write_metadata(agenda, 1, then);
        }
        waits
    }

    // ---- checkpoints ----------------------------------------------------------------------------------

    /// Begins a checkpoint, unless the one before is still being written.
    #[cold]
    pub(super) fn checkpoint(&mut self, agenda: &mut Agenda) {
        if self.closed {
            return;
        }
        let blocks = block_states(&self.ftl, self.nand.dies());
        let (map, cache, keeps) = (&self.ftl.map, &self.cache, self.keeps_homes);
        let power = self.power.as_mut().expect("its timer is armed");
        let oob = &power.oob;
        let at = |place| Some(Entry { place, version: oob.read(place).version });
        let begun =
            power.checkpoint.begin((oob.written(), oob.version()), blocks, |lpn| match map.get(lpn) {
                Where::Flash(ppu) => at(ppu),
                Where::Cache(slot) if keeps && cache.home(slot) != NO_SLOT => at(cache.home(slot)),
                Where::Cache(_) | Where::Unmapped => None,
            });
        if let Some(pages) = begun {
            power.checkpoint_pages += pages;
            self.write_metadata(agenda, pages, Then::Checkpoint);
        }
        self.arm_checkpoint(agenda);
    }

    fn write_metadata(&mut self, agenda: &mut Agenda, pages: u64, then: Then) {
        let layout = &self.ftl.layout;
        let (lanes, planes) = (layout.lanes, layout.planes);
        let programs = pages.div_ceil(u64::from(layout.pages_per_program * planes));
        let power = self.power.as_mut().expect("power may be lost");
        let version = power.oob.version();
        let group = METADATA | power.groups.insert(Group { then, version, programs });
        power.metadata_programs += programs;
        for _ in 0..programs {
            let power = self.power.as_mut().expect("power may be lost");
            power.next_lane = (power.next_lane + 1) % lanes;
            let (die, plane) = self.ftl.layout.die_of(power.next_lane);
            let mut txn = Txn::new(Kind::GcProgram, die);
            (txn.plane, txn.planes, txn.owner) = (plane as u8, planes as u8, group);
            self.nand.submit(agenda, txn);
        }
    }

    #[cold]
    pub(super) fn metadata_written(&mut self, agenda: &mut Agenda, owner: u32) {
        let power = self.power.as_mut().expect("it writes metadata");
        debug_assert!(power.state != State::Off);
        let group = power.groups.get_mut(owner & !METADATA);
        group.programs -= 1;
        if group.programs > 0 {
            return;
        }
        let group = power.groups.remove(owner & !METADATA);
        match group.then {
            Then::Checkpoint => {
                power.checkpoint.complete();
                power.checkpoints += 1;
            }
            Then::Flush(id) => {
                power.checkpoint.trims_written(group.version);
                self.flush_ends(agenda, id);
            }
            Then::Erase(super_block) => {
                power.checkpoint.trims_written(group.version);
                self.submit_erase(agenda, super_block);
            }
        }
    }
}
