//! Erases of sub-blocks: wear and disturb of the others of the same block.

use super::Nand;
use crate::geometry::BlockAddress;
use crate::ids::{BlockId, TxnId};

impl Nand {
    /// The erase `id` on die `d` has ended: the other sub-blocks of its block are worn and disturbed by it.
    #[cold]
    #[inline(never)]
    pub(super) fn erase_ends_beside(&mut self, d: usize, id: TxnId) {
        let txn = *self.txns.get(id);
        if txn.block == BlockId::NONE {
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
}
