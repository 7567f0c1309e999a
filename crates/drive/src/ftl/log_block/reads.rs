//! Look-up of units.

use super::log_block_ftl::LogBlockFtl;
use super::map::Place;
use crate::ftl::flash::Flash;
use crate::ftl::reads::{PageRead, Source, Sources};
use crate::numbers::{Lpn, Ppu};
use interpulse_flash::nand::txn::Txn;

impl Sources for LogBlockFtl {
    fn find(&mut self, lpn: Lpn, to: Lpn) -> Source {
        self.look_up(lpn);
        let first = match self.map.place(lpn) {
            Place::Nowhere => return Source::Nothing,
            Place::Cache(_) => return Source::Cache,
            Place::DataBlock if self.is_in_memory(lpn) => return Source::Cache,
            Place::DataBlock | Place::Log(_) => self.on_flash(lpn).expect("it is on flash"),
        };
        let at = self.sub_blocks.layout.place(first);
        let most = (self.layout.units_per_page() - at.unit).min(to.0 - lpn.0);
        let mut count = 1;
        while count < most && self.on_flash(lpn + count) == Some(first + count) {
            self.look_up(lpn + count);
            count += 1;
        }
        Source::Flash(PageRead { first, at, count })
    }

    fn submit_read(&mut self, flash: &mut Flash, first: Ppu, txn: Txn) {
        if self.follows_reads {
            self.blocks.begin(self.layout.block_of(first));
            self.sub_blocks.begin_read(first);
        }
        flash.submit(txn);
    }
}

impl LogBlockFtl {
    /// Physical unit of a unit whose newest version is on flash.
    #[inline]
    fn on_flash(&self, lpn: Lpn) -> Option<Ppu> {
        match self.map.place(lpn) {
            Place::DataBlock => {
                let at = self.geometry.split(lpn);
                Some(self.in_data_block(at.block, at.offset))
            }
            Place::Log(ppu) => Some(ppu),
            Place::Nowhere | Place::Cache(_) => None,
        }
    }

    /// Looks a unit up, which the version audit checks.
    fn look_up(&mut self, lpn: Lpn) {
        if !self.versions.follows(lpn) {
            return;
        }
        match self.map.place(lpn) {
            Place::Nowhere => self.versions.read_nothing(lpn),
            Place::Cache(slot) => self.versions.read_cache(lpn, slot),
            Place::DataBlock | Place::Log(_) => {
                let ppu = self.on_flash(lpn).expect("it is on flash");
                self.versions.read_flash(lpn, ppu);
            }
        }
    }

    /// Audits a read of every logical unit.
    pub(super) fn read_everything(&mut self) {
        for lpn in Lpn::first(self.geometry.logical_units()) {
            self.look_up(lpn);
        }
    }

    /// Completes a page read of the host, where reads can fail; true if its data is uncorrectable.
    pub(super) fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        let (block, is_last) = self.sub_blocks.end_read(txn);
        if self.blocks.end(block) {
            self.submit_erase(flash, block);
        }
        if is_last {
            self.sub_block_unread(flash, self.layout.lane_of(block).0);
        }
        txn.is_uncorrectable()
    }
}
