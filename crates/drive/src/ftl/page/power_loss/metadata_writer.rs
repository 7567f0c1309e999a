//! Metadata writer: checkpoints of the map and the journal of trims.
//!
//! Both are programs to a separate region, striped over the lanes; its erases are not simulated.

use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::blocks::program_progress::block_states;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::power_loss::metadata_region::{Group, MetadataRegion, MetadataWritten, Then};
use crate::numbers::{GroupId, Lane};
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    /// Totals written to the metadata region.
    pub fn metadata_written(&self) -> MetadataWritten {
        self.metadata.as_ref().map_or_else(MetadataWritten::default, |of| of.written)
    }

    fn area(&mut self) -> &mut MetadataRegion {
        self.metadata.as_mut().expect("power may be lost")
    }

    /// Writes trims before a flush ends, a block is erased or a word line reprogrammed; false if there are none to write.
    /// Otherwise a power loss could undo a trim whose data is gone, and restore older data.
    pub(crate) fn journal(&mut self, flash: &mut Flash, then: Then) -> bool {
        let waits = self.blocks.units.record().is_some_and(|record| record.checkpoint.has_unwritten());
        if waits {
            self.write_metadata(flash, 1, then);
        }
        waits
    }

    /// Sets the timer of the next checkpoint, if power may be lost.
    pub fn arm_checkpoint(&self, flash: &mut Flash) {
        if let Some(metadata) = &self.metadata {
            let next = flash.now() + metadata.every;
            if next <= flash.events.horizon() {
                flash.events.arm(self.timers.checkpoint, next);
            }
        }
    }

    /// Begins a checkpoint, unless the previous one is still being written.
    #[cold]
    pub fn checkpoint(&mut self, flash: &mut Flash) {
        if self.closed {
            return;
        }
        let blocks = block_states(&self.blocks, flash.nand.dies());
        let superseded = self.superseded();
        let record = self.blocks.units.record_mut().expect("power may be lost");
        let began = record.checkpoint.begin(record.oob.mark(), blocks, superseded);
        if began && !self.flush_map(flash) {
            self.write_checkpoint(flash);
        }
        self.arm_checkpoint(flash);
    }

    /// Writes the checkpoint that has begun.
    pub(crate) fn write_checkpoint(&mut self, flash: &mut Flash) {
        let (record, view) = self.blocks.units.record_and_view().expect("power may be lost");
        let pages = record.take_pages(&view);
        self.area().written.checkpoint_pages += pages;
        self.write_metadata(flash, pages, Then::Checkpoint);
    }

    fn write_metadata(&mut self, flash: &mut Flash, pages: u64, then: Then) {
        let version = self.blocks.units.record().expect("power may be lost").oob.version();
        let (lanes, planes) = (self.blocks.layout.lanes, self.blocks.layout.planes);
        let programs = pages.div_ceil(u64::from(self.blocks.layout.pages_per_program * planes));
        let area = self.metadata.as_mut().expect("power may be lost");
        let group = Owner::Metadata(area.groups.insert(Group { then, version, programs }));
        area.written.programs += programs;
        for _ in 0..programs {
            area.next_lane = Lane((area.next_lane.0 + 1) % lanes);
            let (die, plane) = self.blocks.layout.die_of(area.next_lane);
            let mut txn = Txn::new(Kind::GcProgram, die);
            (txn.plane, txn.planes) = (plane as u8, planes as u8);
            txn.set_owner(group.into());
            flash.submit(txn);
        }
    }

    #[cold]
    pub(crate) fn metadata_landed(&mut self, flash: &mut Flash, id: GroupId) {
        let area = self.area();
        let group = area.groups.get_mut(id);
        group.programs -= 1;
        if group.programs > 0 {
            return;
        }
        let group = area.groups.remove(id);
        if let Then::Checkpoint = group.then {
            area.written.checkpoints += 1;
        }
        let record = self.blocks.units.record_mut().expect("power may be lost");
        match group.then {
            Then::Checkpoint => record.checkpoint.complete(),
            Then::Flush(tag) => {
                record.checkpoint.trims_written(group.version);
                self.outcomes.push_back(Outcome::Flushed(tag));
            }
            Then::Erase(super_block) => {
                record.checkpoint.trims_written(group.version);
                self.reclaim_block(flash, super_block);
            }
            Then::Reprogram(job) => {
                record.checkpoint.trims_written(group.version);
                let lane = self.jobs.program(job).lane;
                self.submit_program(flash, Kind::HostProgram, lane, job);
            }
        }
    }
}
