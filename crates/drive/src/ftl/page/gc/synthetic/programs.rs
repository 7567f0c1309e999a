//! Synthetic programs in simulated time: reads of copied pages, extra programs, erases.
//!
//! Each extra program copies consecutive pages of a randomly drawn closed block of its lane and starts when the last of
//! them is decoded. The map stays unchanged: only the timing of the operations matters.

use crate::ftl::flash::Flash;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::{GcRead, Purpose};
use crate::numbers::{JobId, Lane, Ppu};
use crate::owner::Owner;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    pub(crate) fn impose(&mut self, flash: &mut Flash) {
        self.imposed_mut().earn();
        while let Some(lane) = self.imposed_mut().next() {
            self.impose_reads(flash, lane);
        }
    }

    /// Submits the reads of an extra program on `lane`, or the program at once if it needs no reads.
    fn impose_reads(&mut self, flash: &mut Flash, lane: Lane) {
        let layout = &self.blocks.layout;
        let (program, page) = (layout.units_per_program, layout.units_per_page());
        let mut pages = std::mem::take(&mut self.copied);
        self.imposed_mut().reads(lane, program, page, &mut pages);
        let job = self.jobs.new_program(lane, None);
        for &units in &pages {
            let Some(first_ppu) = self.next_copied(lane) else { break };
            let at = self.blocks.layout.place(first_ppu);
            let mut txn = Txn::new(Kind::GcRead, at.die);
            (txn.plane, txn.block, txn.page) = (at.plane as u8, at.block, at.page);
            txn.set_units(units);
            let read = GcRead { lane, first_ppu, mask: 0, purpose: Purpose::Program(job) };
            txn.set_owner(Owner::Gc(self.jobs.reads.insert(read)).into());
            self.jobs.program(job).reads += 1;
            flash.submit(txn);
        }
        self.copied = pages;
        if self.jobs.program(job).reads == 0 {
            self.impose_program(flash, lane, job);
        }
    }

    /// Next page to copy on `lane`; `None` if the lane has no closed block.
    fn next_copied(&mut self, lane: Lane) -> Option<Ppu> {
        let layout = &self.blocks.layout;
        let imposed = self.imposed.as_mut().expect("synthetic write amplification");
        if imposed.lane(lane).left == 0 {
            let (first, blocks) = (layout.first_block(lane), layout.blocks);
            let from = imposed.draw(blocks);
            let mut order = (from..blocks).chain(0..from).map(|k| first + k);
            let block = order.find(|&block| self.blocks.map().is_candidate(block))?;
            let of = imposed.lane(lane);
            (of.next, of.left) = (layout.first_unit(block), layout.units_per_block / layout.units_per_page());
        }
        let of = imposed.lane(lane);
        let page = of.next;
        (of.next, of.left) = (page + layout.units_per_page(), of.left - 1);
        Some(page)
    }

    /// Completes the read of a copied page; the last one starts the program.
    pub(crate) fn copied_page_read(&mut self, flash: &mut Flash, read: &GcRead, id: JobId) {
        let job = self.jobs.program(id);
        job.reads -= 1;
        if job.reads == 0 {
            self.impose_program(flash, read.lane, id);
        }
    }

    fn impose_program(&mut self, flash: &mut Flash, lane: Lane, job: JobId) {
        let of = self.jobs.take_program(job);
        self.jobs.free_program(job, of);
        self.impose_erase(flash, lane);
        let layout = &self.blocks.layout;
        let (die, plane) = layout.die_of(lane);
        let mut txn = Txn::new(Kind::GcProgram, die);
        (txn.plane, txn.planes) = (plane as u8, layout.planes as u8);
        txn.set_owner(Owner::Nothing.into());
        flash.submit(txn);
    }

    /// Completes a synthetic program.
    pub(crate) fn imposed_program_done(&mut self) {
        self.blocks.counters.imposed_units += u64::from(self.blocks.layout.units_per_program);
    }

    /// Erases the block that a program on `lane` begins, if erases are configured.
    pub(crate) fn impose_erase(&mut self, flash: &mut Flash, lane: Lane) {
        let layout = &self.blocks.layout;
        let imposed = self.imposed.as_mut().expect("synthetic write amplification");
        if !imposed.begins_block(lane, layout.programs_per_block) {
            return;
        }
        let (die, plane) = layout.die_of(lane);
        let mut txn = Txn::new(Kind::Erase, die);
        (txn.plane, txn.planes, txn.block) = (plane as u8, layout.planes as u8, BlockId::NONE);
        txn.set_owner(Owner::Nothing.into());
        txn.set_cycles(self.blocks.cycles[layout.first_block(lane).index()]);
        flash.submit(txn);
    }

    fn imposed_mut(&mut self) -> &mut crate::ftl::page::gc::synthetic::budget::SyntheticPrograms {
        self.imposed.as_mut().expect("synthetic write amplification")
    }
}
