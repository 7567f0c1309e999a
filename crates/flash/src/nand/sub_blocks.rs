//! Erases of sub-blocks: wear and disturb of the others of the same block, and erases of all of them together.

use super::Nand;
use super::trains::{block_key, slowest};
use super::txn::Txn;
use crate::geometry::BlockAddress;
use crate::ids::{BlockId, TxnId};
use crate::pulse::PulseTrain;

impl Nand {
    /// The erase `id` on die `d` has ended: the other sub-blocks of its block are worn and disturbed by it.
    #[cold]
    #[inline(never)]
    pub(super) fn erase_ends_beside(&mut self, d: usize, id: TxnId) {
        let txn = *self.txns.get(id);
        if txn.block == BlockId::NONE {
            return;
        }
        if txn.is_of_whole_block() {
            self.whole_block_erased(d, &txn);
            return;
        }
        for plane in txn.planes().each() {
            for block in self.geometry.beside(txn.block) {
                if self.sub_blocks.wear_ppm() > 0 {
                    self.dies[d].add_stress(plane, block, self.sub_blocks.wear_ppm());
                }
                self.counters.sub_block_disturbs +=
                    u64::from(self.dies[d].blocks().programmed(plane, block) > 0);
            }
            if let Some(reliability) = &mut self.reliability {
                let at = BlockAddress { die: txn.die, plane, block: txn.block };
                reliability.disturb_beside(at, self.sub_blocks.spec.disturb);
            }
        }
    }

    /// The erase `txn` on die `d` has erased the other sub-blocks, too.
    fn whole_block_erased(&mut self, d: usize, txn: &Txn) {
        for plane in txn.planes().each() {
            for block in self.geometry.beside(txn.block) {
                self.dies[d].blocks_mut().set_programmed(plane, block, 0);
            }
        }
    }

    /// A suspension of the operation on die `d` has worn its sub-block by `stress_ppm`: if it erases the whole block, the others, too.
    #[cold]
    #[inline(never)]
    pub(super) fn stress_whole_block(&mut self, d: usize, stress_ppm: u32) {
        let txn = *self.txns.get(self.contexts[d].active.long);
        if !txn.is_of_whole_block() {
            return;
        }
        for plane in txn.planes().each() {
            for block in self.geometry.beside(txn.block) {
                self.dies[d].add_stress(plane, block, stress_ppm);
            }
        }
    }

    /// The train of the erase of a whole block, of which the erase of its first sub-block takes `train`: it lasts as long as the
    /// most worn sub-block needs.
    #[cold]
    #[inline(never)]
    pub(super) fn of_whole_block(&self, d: usize, txn: &Txn, train: PulseTrain) -> PulseTrain {
        let of = |block: BlockId| {
            let mut txn = *txn;
            txn.block = block;
            slowest(&txn, |plane| self.trains.erase(block_key(&txn, plane), self.worn(d, &txn, plane)))
        };
        let others = self.geometry.beside(txn.block).map(of);
        let longest = others.chain([train]).max_by_key(PulseTrain::total).expect("there is one");
        let apart = self.trains.fresh_erase().loops;
        let together = self.sub_blocks.block_erase_loops.unwrap_or(apart);
        PulseTrain { loops: (longest.loops * together).div_ceil(apart), ..longest }
    }
}
