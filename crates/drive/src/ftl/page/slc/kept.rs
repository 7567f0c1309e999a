//! SLC cache of a drive between runs, and its numbers in the supplement of a snapshot.

use super::cache::{KeptSlc, SlcCache, SlcLane};
use crate::ftl::Supplement;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::{WritePointer, WriteStreams};
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

impl BlockManager {
    /// Ends the use of the cache: the form in which a state is kept.
    pub(in crate::ftl::page) fn park_slc(&mut self) {
        let Some(slc) = self.slc.take() else { return };
        let SlcCache { own, cycles, lanes, own_of_lane, .. } = *slc;
        let mut kept = KeptSlc { own, cycles, lanes: Vec::new() };
        for (of, SlcLane { own, folding, .. }) in self.lanes.iter_mut().zip(lanes) {
            kept.lanes.push((own.len() as u32, folding));
            own.into_iter().rev().for_each(|block| of.free.push_front(block));
        }
        self.config.set_aside(&self.layout, own_of_lane, true);
        self.streams = WriteStreams::of(self.config.translation_pages);
        self.kept_slc = Some(Box::new(kept));
    }

    /// Restores used and closed super blocks of a cache whose other state is `slc`, from their modes.
    pub(super) fn resume_slc(&mut self, slc: &mut SlcCache, kept: KeptSlc) {
        slc.cycles = kept.cycles;
        for (l, (of, (_, folding))) in (0..).zip(slc.lanes.iter_mut().zip(kept.lanes)) {
            let pointer = self.lanes[l as usize].write_pointers[slc.stream.index()];
            let is_open = |b| pointer.next_program < self.layout.programs_per_block && pointer.block == b;
            let in_mode = self.layout.blocks_of(Lane(l)).filter(|&b| self.modes.of(b) == CellMode::Slc);
            let blocks: Vec<SuperBlock> = in_mode.collect();
            (of.used, of.folding) = (blocks.len() as u32, folding);
            of.closed = blocks.into_iter().filter(|&block| !is_open(block)).collect();
            of.closed.sort_by_key(|block| self.closed[block.index()]);
        }
    }

    /// Numbers of the cache of a state between runs: 0 without one.
    pub(in crate::ftl::page) fn slc_numbers(&self) -> Vec<u32> {
        let Some(kept) = &self.kept_slc else { return vec![0] };
        let mut numbers = vec![1, u32::from(!kept.own.is_empty())];
        for block in SuperBlock::first(self.layout.super_blocks()) {
            let slc = u32::from(self.modes.of(block) == CellMode::Slc);
            let own = kept.own.get(block.index()).is_some_and(|&own| own);
            numbers.extend([slc | u32::from(own) << 1, kept.cycles[block.index()]]);
        }
        let base = self.streams.count();
        for (lane, &(own, folding)) in self.lanes.iter().zip(&kept.lanes) {
            let WritePointer { block, next_program } = lane.write_pointers[base];
            numbers.extend([own, u32::from(folding), lane.passed_over, block.0, next_program]);
        }
        numbers
    }

    /// Restores the cache from [`BlockManager::slc_numbers`].
    pub(in crate::ftl::page) fn restore_slc_numbers(&mut self, from: &mut Supplement) -> Result<(), String> {
        if from.at_most(1, "the number of SLC caches")? == 0 {
            return Ok(());
        }
        let owns = from.at_most(1, "whether blocks are set aside")? == 1;
        let blocks = self.layout.super_blocks();
        let mut kept =
            KeptSlc { own: vec![false; if owns { blocks as usize } else { 0 }], ..KeptSlc::default() };
        for block in SuperBlock::first(blocks) {
            let of = from.at_most(3, "the mode of a block")?;
            if of & 1 == 1 {
                self.modes.set(block, CellMode::Slc);
                self.units.set_candidate(block, false);
            }
            if of & 2 == 2 {
                let own = kept.own.get_mut(block.index());
                *own.ok_or_else(|| format!("block {block} is set aside where none is"))? = true;
            }
            let cycles = self.cycles[block.index()];
            kept.cycles.push(from.at_most(cycles, "P/E cycles in SLC mode")?);
        }
        let full = self.layout.programs_per_block;
        for lane in Lane::first(self.layout.lanes) {
            let of = &mut self.lanes[lane.index()];
            let own = from.at_most(of.free.len() as u32, "erased blocks that are set aside")?;
            let folding = from.at_most(1, "whether a lane folds")? == 1;
            of.passed_over = from.next("pages passed over")?;
            let block = SuperBlock(from.at_most(blocks - 1, "an open block")?);
            let next_program = from.at_most(full, "the next program of an open block")?;
            let is_open = next_program < full;
            if is_open && (self.modes.of(block) != CellMode::Slc || self.layout.lane_of(block).0 != lane) {
                return Err(format!(
                    "block {block}, open on lane {lane}, is no block in SLC mode of this lane"
                ));
            }
            let wrong = of.free.iter().enumerate().find(|&(k, &block)| {
                let is_own = kept.own.get(block.index()).is_some_and(|&own| own);
                self.modes.of(block) == CellMode::Slc || is_own != ((k as u32) < own)
            });
            if let Some((_, block)) = wrong {
                return Err(format!("block {block} is free, and in use by the SLC cache"));
            }
            of.write_pointers.push(WritePointer { block, next_program });
            kept.lanes.push((own, folding));
        }
        self.kept_slc = Some(Box::new(kept));
        Ok(())
    }
}
