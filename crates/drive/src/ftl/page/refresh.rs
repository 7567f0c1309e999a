//! Refresh, read reclaim and static wear levelling: rewrites of old, often read and unevenly worn blocks.
//!
//! A block is not erased while a read of it may have to be repeated.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::free_block::FreeBlock;
use crate::ftl::page::gc::state::Rewrite;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::{Lane, SuperBlock};
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::txn::Txn;

/// Patrols per `refresh-after`.
const LOOKS: u64 = 64;

impl PageFtl {
    /// Starts the patrol timer if blocks are refreshed.
    pub(crate) fn start_patrol(&mut self, flash: &mut Flash) {
        if self.refresh_after.is_some() {
            self.patrol(flash);
        }
    }

    /// Patrol: queues blocks whose data has become old.
    #[cold]
    #[inline(never)]
    pub fn patrol(&mut self, flash: &mut Flash) {
        let limit = self.refresh_after.expect("the patrol has a timer only with a limit");
        if self.closed {
            return;
        }
        let now = flash.now();
        for lane in Lane::first(self.blocks.layout.lanes) {
            if !self.collection.lanes[lane.index()].rewrites.is_empty() {
                continue;
            }
            let blocks = self.blocks.layout.blocks_of(lane);
            let old = blocks
                .filter(|&b| self.blocks.map().is_candidate(b) && self.is_old(flash.nand, now, b, limit));
            let old: Vec<Rewrite> = old.map(Rewrite::Old).collect();
            if !old.is_empty() {
                self.collection.lanes[lane.index()].rewrites.extend(old);
                self.advance_gc(flash, lane);
            }
        }
        let next = now + Duration::from_ns((limit.as_ns() / LOOKS).max(1));
        if next <= flash.events.horizon() {
            flash.events.arm(self.timers.patrol, next);
        }
    }

    /// Static wear levelling after the erase of `erased`: rewrites the least worn data block of the lane, so that it takes part
    /// in wear, if `erased` has at least `gap` cycles more; with [`FreeBlock::LeastWorn`] if any free block has. One block at
    /// a time.
    ///
    /// Levelling ends by itself: between two blocks that host data opens, a lane is levelled at most once for each of its
    /// blocks. Levelling that needs no garbage collection would end without this limit: a rewrite erases a least worn block,
    /// whose cycles stay at most those of the most worn one, so the sum of the distances of all blocks from the most worn
    /// one shrinks by one with each. But moved data may need more room than its block frees, as several relocation streams
    /// pad their last programs each. Then garbage collection erases other blocks, which are more worn afterwards, and the
    /// next rewrite is due. With the limit, what a lane does without host data is a bounded number of rewrites, and the
    /// garbage collection of each, which ends when there is space.
    #[cold]
    pub(crate) fn level_wear(&mut self, flash: &mut Flash, lane: Lane, erased: SuperBlock, gap: u32) {
        let blocks = self.blocks.layout.blocks_of(lane);
        let closed = blocks.filter(|&block| self.blocks.map().is_candidate(block));
        let youngest = closed.min_by_key(|&block| self.blocks.cycles[block.index()]);
        let Some(youngest) = youngest else {
            self.blocks.lanes[lane.index()].wear_limit = None;
            return;
        };
        let cycles = |block: SuperBlock| self.blocks.cycles[block.index()];
        let worn = match self.blocks.free_block {
            FreeBlock::ErasedFirst => cycles(erased),
            FreeBlock::LeastWorn => self.blocks.most_worn_free(lane).unwrap_or(0),
        };
        let limit = cycles(youngest).saturating_add(gap);
        let due = worn >= limit && self.blocks.lanes[lane.index()].leveled < self.blocks.layout.blocks;
        // Padding of several relocation streams may leave a rewrite without room: then host data cannot wait for it.
        let holds = self.blocks.free_block == FreeBlock::LeastWorn && self.handles.is_none();
        if holds {
            // The erase that ends the rewrite comes here again.
            self.blocks.lanes[lane.index()].wear_limit = due.then_some(limit);
        }
        let rewrites = &mut self.collection.lanes[lane.index()].rewrites;
        let queued = match holds {
            false => !rewrites.is_empty(),
            true => rewrites.iter().any(|rewrite| matches!(rewrite, Rewrite::Young(_))),
        };
        if due && !queued {
            rewrites.push_back(Rewrite::Young(youngest));
            self.advance_gc(flash, lane);
        }
    }

    fn is_old(&self, nand: &Nand, now: SimTime, super_block: SuperBlock, limit: Duration) -> bool {
        let (lane, block) = self.blocks.layout.lane_of(super_block);
        let (die, plane) = self.blocks.layout.die_of(lane);
        let reliability = nand.reliability().expect("ages are kept where there are errors");
        reliability.age(BlockAddress { die, plane, block }, now) > limit
    }

    fn is_worn_by_reads(&self, nand: &Nand, super_block: SuperBlock) -> bool {
        let (lane, block) = self.blocks.layout.lane_of(super_block);
        let (die, plane) = self.blocks.layout.die_of(lane);
        let planes = plane..plane + self.blocks.layout.planes;
        let reliability = nand.reliability().expect("reads are counted where there are errors");
        planes.into_iter().any(|plane| reliability.is_worn_by_reads(BlockAddress { die, plane, block }))
    }

    /// Queues a block that has reached its read limit.
    #[cold]
    pub(crate) fn reclaim(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        if self.closed {
            return;
        }
        let (lane, _) = self.blocks.layout.lane_of(super_block);
        let rewrites = &mut self.collection.lanes[lane.index()].rewrites;
        if self.blocks.map().is_candidate(super_block) && !rewrites.contains(&Rewrite::Read(super_block)) {
            rewrites.push_back(Rewrite::Read(super_block));
            self.advance_gc(flash, lane);
        }
    }

    /// Starts the next rewrite on `lane` or programs the last units of the previous one; false if there is nothing to do.
    pub(crate) fn rewrite_next(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        let l = lane.index();
        let gc = &self.collection.lanes[l];
        if gc.rewriting {
            if gc.reads == 0 && gc.programs == 0 && !gc.relocating.is_empty() {
                self.program_gathered(flash, lane, 1);
            }
            self.program_rest(flash, lane);
            return false;
        }
        if !gc.victims.is_empty() {
            // Host data that would complete the program may wait for this rewrite.
            let held = self.blocks.lanes[l].wear_limit.is_some();
            if held && gc.reads == 0 && gc.programs == 0 && !gc.relocating.is_empty() {
                self.program_gathered(flash, lane, 1);
            }
            return false;
        }
        while let Some(&next) = self.collection.lanes[l].rewrites.front() {
            let (Rewrite::Old(block)
            | Rewrite::Read(block)
            | Rewrite::Young(block)
            | Rewrite::Failing(block)
            | Rewrite::Formatted(block)) = next;
            let wanted = match next {
                Rewrite::Old(_) => {
                    self.refresh_after.is_some_and(|limit| self.is_old(flash.nand, flash.now(), block, limit))
                }
                Rewrite::Read(_) => self.is_worn_by_reads(flash.nand, block),
                Rewrite::Young(_) | Rewrite::Failing(_) | Rewrite::Formatted(_) => true,
            };
            if wanted && !self.fits(lane, block) {
                return false;
            }
            self.collection.lanes[l].rewrites.pop_front();
            if wanted && (self.blocks.take_victim(block) || self.blocks.take_slc_victim(block)) {
                match next {
                    Rewrite::Old(_) => self.rewritten.refreshed += 1,
                    Rewrite::Read(_) => self.rewritten.reclaimed += 1,
                    Rewrite::Young(_) => {
                        self.blocks.counters.leveled_blocks += 1;
                        self.blocks.lanes[l].leveled += 1;
                    }
                    Rewrite::Failing(_) | Rewrite::Formatted(_) => {}
                }
                self.blocks.lanes[l].levels_wear = matches!(next, Rewrite::Young(_));
                let victim = self.victim(lane, block);
                let gc = &mut self.collection.lanes[l];
                gc.rewriting = true;
                gc.victims.push(victim);
                return true;
            }
        }
        false
    }

    #[inline]
    pub(crate) fn super_block_of(&self, read: &Txn) -> SuperBlock {
        self.blocks.layout.block_at(read.die, read.plane, read.block)
    }

    /// Completes a host page read, where reads can fail: the erase of its block may be waiting for it.
    #[inline(never)]
    pub(crate) fn reader_done(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        let readers = &mut self.readers[super_block.index()];
        *readers -= 1;
        if *readers == 0 {
            let (lane, _) = self.blocks.layout.lane_of(super_block);
            if !self.collection.lanes[lane.index()].victims.is_empty() {
                self.erase_if_done(flash, lane, super_block);
            }
        }
    }
}
