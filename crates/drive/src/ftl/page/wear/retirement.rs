//! Retirement of super blocks whose erase or program has failed.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::state::Rewrite;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::wear::health::Health;
use crate::numbers::{JobId, Lane, SuperBlock};
use crate::owner::Owner;
use interpulse_engine::Status;
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    /// Health of the drive; `None` without faults.
    pub fn health(&self) -> Option<Health> {
        let health = self.bad_blocks.as_ref()?.health();
        Some(match &self.injected {
            None => health,
            Some(of) => Health {
                injects: true,
                dead_dies: of.dead_dies,
                lost_bytes: of.lost.total * self.unit_bytes,
                lost_bytes_at_end: of.lost.now() * self.unit_bytes,
                lost_reads: of.lost.reads,
                ..health
            },
        })
    }

    /// Whether the drive accepts writes and trims; Err is the status of those that it refuses.
    #[inline]
    pub(crate) fn accepts_changes(&self) -> Result<(), Status> {
        match &self.bad_blocks {
            Some(of) if of.is_read_only() => Err(Status::NamespaceIsWriteProtected),
            _ => Ok(()),
        }
    }

    /// Decides the outcome of the erase of `super_block` that has just ended, and replaces the block if it failed.
    #[cold]
    pub(super) fn settle_erase(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        let Some(bad_blocks) = &mut self.bad_blocks else { return };
        let cycles = self.blocks.cycles[super_block.index()];
        let (lane, block) = self.blocks.layout.lane_of(super_block);
        let (die, _) = self.blocks.layout.die_of(lane);
        let injected = self.injected.as_mut().is_some_and(|of| of.fails_erase(die));
        if !bad_blocks.erase_fails(super_block, self.blocks.wear_of(super_block), injected) {
            return;
        }
        if !bad_blocks.replace(lane, super_block, cycles, flash.now()) {
            return;
        }
        self.blocks.block_replaced(super_block);
        if let Some(record) = self.blocks.units.record_mut() {
            record.checkpoint.forget_block(super_block);
        }
        if let Some(reliability) = flash.nand.reliability_mut() {
            let (die, first) = self.blocks.layout.die_of(lane);
            for plane in first..first + self.blocks.layout.planes {
                reliability.set_cycles(BlockAddress { die, plane, block }, 0);
            }
        }
    }

    /// Completes a program where programs may fail; true if it freed cache slots. The data of a failed one is programmed
    /// again, and its block is emptied once it has no program in flight.
    #[cold]
    pub(crate) fn settle_program(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        let Owner::Program(job) = Owner::of(txn) else { return self.program_succeeded(flash, txn) };
        let place = self.jobs.program(job).place.expect("synthetic programs exclude faults");
        let lane = self.jobs.program(job).lane;
        if self.blocks.is_dead(lane) {
            // Moved data was lost where it came from; host data is still in the cache.
            if txn.kind == Kind::HostProgram {
                self.program_failed(flash, txn.kind, job);
                return false;
            }
            return self.program_succeeded(flash, txn);
        }
        let injected = self.injected.as_mut().is_some_and(|of| of.fails_program(txn.die));
        let fails = self.bad_blocks.as_mut().is_some_and(|of| of.program_fails(place.super_block, injected));
        let room = !fails && self.program_succeeded(flash, txn);
        if fails {
            self.program_failed(flash, txn.kind, job);
        }
        self.empty_if_failing(flash, place.super_block);
        room
    }

    fn program_failed(&mut self, flash: &mut Flash, kind: Kind, id: JobId) {
        let job = self.jobs.take_program(id);
        let (lane, place) = (job.lane, job.place.expect("it has failed at a place"));
        self.blocks.counters.padding_units += u64::from(place.units(&self.blocks.layout));
        self.abandon(lane, place.super_block);
        self.blocks.program_done(place.super_block);
        if kind == Kind::HostProgram {
            debug_assert!(job.moved.is_empty(), "only reprogramming moves units along with host data");
            for &slot in job.slots.iter().rev() {
                let list = self.blocks.units.cache.program_failed(slot);
                if self.write_back.stripe.is_some() {
                    self.unit_arrived(list);
                }
            }
            self.lane_changed(lane);
            self.placement.give_back(lane);
            self.write_back.programs_in_flight -= 1;
            self.jobs.free_program(id, job);
            self.destage(flash);
        } else {
            let gc = &mut self.collection.lanes[lane.index()];
            job.moved.iter().rev().for_each(|&unit| gc.relocating.push_front(unit));
            gc.programs -= 1;
            self.jobs.free_program(id, job);
            self.advance_gc(flash, lane);
        }
    }

    /// Ends the writing of a failing block. Collection goes on in it while it has no other block to take for certain.
    fn abandon(&mut self, lane: Lane, super_block: SuperBlock) {
        let spares = self.blocks.free_blocks(lane) > self.blocks.config().hard_free;
        let (full, gc) = (self.blocks.layout.programs_per_block, Stream::GC.index());
        for (stream, pointer) in self.blocks.lanes[lane.index()].write_pointers.iter_mut().enumerate() {
            if pointer.block == super_block && pointer.next_program < full && (spares || stream != gc) {
                pointer.next_program = full;
            }
        }
    }

    /// Queues a failing block without programs in flight for collection.
    fn empty_if_failing(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        let failing = self.bad_blocks.as_ref().is_some_and(|of| of.is_failing(super_block));
        let closed = || self.blocks.map().is_candidate(super_block) || self.blocks.is_closed_slc(super_block);
        if !failing || !closed() {
            return;
        }
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        let rewrites = &mut self.collection.lanes[lane.index()].rewrites;
        if !rewrites.contains(&Rewrite::Failing(super_block)) {
            rewrites.push_back(Rewrite::Failing(super_block));
            self.advance_gc(flash, lane);
        }
    }

    /// Goes on with the retirement of failing blocks after a power cut, from the durable bad-block table.
    pub(crate) fn resume_retirement(&mut self, flash: &mut Flash) {
        let full = self.blocks.layout.programs_per_block;
        for super_block in SuperBlock::first(self.blocks.layout.super_blocks()) {
            if !self.bad_blocks.as_ref().is_some_and(|of| of.is_failing(super_block)) {
                continue;
            }
            let (lane, _) = self.blocks.layout.lane_of(super_block);
            let pointers = &mut self.blocks.lanes[lane.index()].write_pointers;
            let open = pointers.iter_mut().find(|p| p.block == super_block && p.next_program < full);
            if let Some(pointer) = open {
                pointer.next_program = full;
                self.blocks.close(super_block);
            }
            self.empty_if_failing(flash, super_block);
        }
    }
}
