//! Sub-blocks of super blocks: flash operations by program number, programs done, wear, and the erases of single sub-blocks.
//!
//! The drive's layout numbers the sub-blocks of super block B as B * count to B * count + count - 1. Without sub-blocks they are
//! the super blocks.

use super::geometry::LogBlockGeometry;
use super::tables::LogBlockTables;
use crate::ftl::layout::Layout;
use crate::ftl::transactions::{erase_of, program_of};
use crate::numbers::{Ppu, SuperBlock};
use crate::owner::Owner;
use crate::spec::DriveSpec;
use interpulse_flash::nand::txn::{Kind, Txn};

/// Nominal times of an unworn part, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Reads of the pages of a program, one after the other, and the program.
    pub(super) copy: u64,
    /// Erase of a sub-block.
    pub(super) apart: u64,
    /// Erase of a whole super block.
    pub(super) whole: u64,
}

/// State of the sub-blocks of a drive.
pub(super) struct SubBlocks {
    /// Addresses of sub-blocks.
    pub(super) layout: Layout,
    /// Sub-blocks of a super block; 1 if merges erase super blocks only.
    pub(super) count: u32,
    /// P/E cycles of each.
    pub(super) cycles: Vec<u32>,
    /// Programs submitted to each since its erase.
    pub(super) programs_done: Vec<u32>,
    /// Erases of single sub-blocks of each super block since it was erased whole; empty if there are none.
    pub(super) erased_apart: Vec<u32>,
    /// Host reads in flight on each that may be repeated; empty where nothing depends on them.
    reads: Vec<u16>,
    pub(super) costs: Costs,
}

impl SubBlocks {
    pub(super) fn new(spec: &DriveSpec, tables: &LogBlockTables) -> SubBlocks {
        let count = tables.geometry.sub_blocks;
        let reads = if count > 1 && spec.follows_reads() { tables.cycles.len() } else { 0 };
        let part = &spec.part;
        let sensing: u64 = part.read.iter().map(|of| of.as_ns()).sum::<u64>() / part.read.len() as u64;
        let pages = u64::from(tables.layout.pages_per_program * tables.layout.planes);
        let block = interpulse_flash::parts::TrainSpec {
            loops: part.sub_blocks.block_erase_loops.unwrap_or(part.erase.loops),
            ..part.erase
        };
        SubBlocks {
            layout: tables.layout.clone(),
            count,
            cycles: tables.cycles.clone(),
            programs_done: tables.programs_done(),
            erased_apart: SubBlocks::erased_apart_of(&tables.geometry, &tables.whole),
            reads: vec![0; reads],
            costs: Costs {
                copy: pages * sensing + part.program.total().as_ns(),
                apart: part.erase.total().as_ns(),
                whole: block.total().as_ns(),
            },
        }
    }

    /// [`SubBlocks::erased_apart`] of a drive with the super blocks of `whole` that has erased none.
    pub(super) fn erased_apart_of(geometry: &LogBlockGeometry, whole: &Layout) -> Vec<u32> {
        vec![0; if geometry.sub_blocks > 1 { whole.super_blocks() as usize } else { 0 }]
    }

    /// A sub-block of a super block.
    #[inline]
    pub(super) fn of(&self, block: SuperBlock, sub_block: u32) -> SuperBlock {
        SuperBlock(block.0 * self.count + sub_block)
    }

    /// The sub-block with a program of a super block, and the number of the program there.
    #[inline]
    fn of_program(&self, block: SuperBlock, program: u32) -> (SuperBlock, u32) {
        if self.count == 1 {
            return (block, program);
        }
        let each = self.layout.programs_per_block;
        (self.of(block, program / each), program % each)
    }

    /// The next program of a super block or of one of its sub-blocks.
    #[inline]
    pub(super) fn program(&mut self, kind: Kind, block: SuperBlock, program: u32, owner: Owner) -> Txn {
        let (block, program) = self.of_program(block, program);
        self.programs_done[block.index()] += 1;
        program_of(&self.layout, kind, block, program, self.cycles[block.index()], owner)
    }

    /// Whether a program of a super block has been submitted since the erase.
    pub(super) fn is_programmed(&self, block: SuperBlock, program: u32) -> bool {
        let (block, program) = self.of_program(block, program);
        self.programs_done[block.index()] > program
    }

    /// Programs left in a super block.
    pub(super) fn programs_left(&self, block: SuperBlock) -> u64 {
        let left =
            |k| u64::from(self.layout.programs_per_block - self.programs_done[self.of(block, k).index()]);
        (0..self.count).map(left).sum()
    }

    /// The erase of a super block, all sub-blocks together.
    pub(super) fn erase(&self, block: SuperBlock) -> Txn {
        let first = self.of(block, 0);
        let mut txn = erase_of(&self.layout, first, self.cycles[first.index()]);
        if self.count > 1 {
            txn.set_whole_block();
        }
        txn
    }

    /// The super block whose erase has ended; `None` of a single sub-block.
    pub(super) fn erased(&mut self, txn: &Txn) -> Option<SuperBlock> {
        let Owner::Erase(of) = Owner::of(txn) else { unreachable!("an erase of {:?}", Owner::of(txn)) };
        if self.count > 1 && !txn.is_of_whole_block() {
            self.programs_done[of.index()] = 0;
            self.cycles[of.index()] += 1;
            self.erased_apart[(of.0 / self.count) as usize] += 1;
            return None;
        }
        for k in of.0..of.0 + self.count {
            self.programs_done[k as usize] = 0;
            self.cycles[k as usize] += 1;
        }
        let block = SuperBlock(of.0 / self.count);
        if let Some(erased) = self.erased_apart.get_mut(block.index()) {
            *erased = 0;
        }
        Some(block)
    }

    /// A host read that may be repeated begins.
    #[inline]
    pub(super) fn begin_read(&mut self, ppu: Ppu) {
        if !self.reads.is_empty() {
            self.reads[self.layout.block_of(ppu).index()] += 1;
        }
    }

    /// The host read `txn` has ended: its super block, and whether it was the last one of its sub-block.
    #[inline]
    pub(super) fn end_read(&mut self, txn: &Txn) -> (SuperBlock, bool) {
        let of = self.layout.block_at(txn.die, txn.plane, txn.block);
        if self.reads.is_empty() {
            return (SuperBlock(of.0 / self.count), false);
        }
        self.reads[of.index()] -= 1;
        (SuperBlock(of.0 / self.count), self.reads[of.index()] == 0)
    }

    /// Whether a host read of a sub-block may be repeated.
    pub(super) fn is_read(&self, sub_block: SuperBlock) -> bool {
        self.reads.get(sub_block.index()).is_some_and(|&reads| reads > 0)
    }
}
