//! ECC outcome of a read: the array's side of [`crate::errors`].

use super::Nand;
use super::reliability::Reliability;
use super::txn::Txn;
use crate::cell_mode::CellMode;
use crate::die::blocks::Blocks;
use crate::ids::{TxnId, WordLineId};
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// The bit errors of the array, if it has any.
    pub fn reliability(&self) -> Option<&Reliability> {
        self.reliability.as_deref()
    }

    /// The bit errors of the array, for setting up blocks before the start.
    pub fn reliability_mut(&mut self) -> Option<&mut Reliability> {
        self.reliability.as_deref_mut()
    }

    /// Decides the ECC outcome of the sensing of transaction `id`, whose data has moved at `now`; returns its decode latency.
    #[inline(always)]
    pub(super) fn decode_outcome(&mut self, now: SimTime, d: usize, id: TxnId) -> Duration {
        if self.reliability.is_none() { self.config.ecc_latency } else { self.errors_of_sensing(now, d, id) }
    }

    #[inline(never)]
    fn errors_of_sensing(&mut self, now: SimTime, d: usize, id: TxnId) -> Duration {
        let reliability = self.reliability.as_mut().expect("the caller has looked");
        let txn = self.txns.get_mut(id);
        if txn.is(Txn::BUFFERED | Txn::JUDGED) {
            return reliability.known_latency(txn);
        }
        let (extra, reprogrammed) = wear_of(self.dies[d].blocks(), txn, self.geometry.pages_per_word_line);
        reliability.decode_outcome(txn, extra, reprogrammed, now)
    }

    /// Decides the ECC outcome of a sensing that ends `now`, before its data moves; returns whether the die takes it for
    /// uncorrectable.
    pub(super) fn judge_on_die(&mut self, now: SimTime, d: usize, id: TxnId) -> bool {
        let reliability = self.reliability.as_mut().expect("a die judges sensings with errors");
        let txn = self.txns.get_mut(id);
        let (extra, reprogrammed) = wear_of(self.dies[d].blocks(), txn, self.geometry.pages_per_word_line);
        reliability.judge_on_die(txn, extra, reprogrammed, now)
    }
}

/// Wear of the block of a read by suspensions, and reprograms of its word line if that is reprogrammable.
#[inline(always)]
fn wear_of(blocks: &Blocks, txn: &Txn, pages_per_word_line: u32) -> (u32, Option<u8>) {
    let extra = blocks.stress_cycles(txn.plane.into(), txn.block);
    let word_line = WordLineId::of_page(txn.page, pages_per_word_line);
    let reprogrammed = match txn.cell_mode() {
        CellMode::Native | CellMode::Slc => None,
        CellMode::Mlc => {
            let status = blocks.status_if_whole(txn.plane.into(), txn.block, word_line);
            Some(status.map_or(0, |status| status.reprograms))
        }
    };
    (extra, reprogrammed)
}
