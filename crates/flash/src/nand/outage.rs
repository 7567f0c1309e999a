//! The array when its power is cut: nothing is under way any more, and what was leaves its traces in the cells.

use super::ecc::Decoder;
use super::queue::Queue;
use super::txn::{Kind, Txn};
use super::{InHand, Nand};
use crate::die::outage::Torn;
use crate::numbers::DieId;
use interpulse_engine::{Agenda, ResourceId, SimTime};

impl Nand {
    /// Power is cut now: all transactions are gone without an outcome. Returns the programs and erases left half done,
    /// with their dies.
    pub fn outage(&mut self, agenda: &mut Agenda) -> Vec<(DieId, Torn)> {
        assert!(self.watch.meter.is_none() && self.supply.budget.is_none(), "neither is told of a cut");
        let now = agenda.now();
        let mut torn = Vec::new();
        for d in 0..self.dies.len() {
            // What the die has drawn so far is paid for now.
            if self.dies[d].state() != crate::die::State::Idle {
                let mut tally = std::mem::take(&mut self.supply.tally);
                self.dies[d].usage.settle(now);
                self.book_open(&mut tally, now, d);
                self.supply.tally = tally;
            }
            let operations = self.dies[d].outage(now);
            for operation in operations.into_iter().flatten() {
                self.note_torn(DieId(d as u32), &operation, now);
                torn.push((DieId(d as u32), operation));
            }
            self.bays[d].queue = Queue::default();
            self.bays[d].hand = InHand::NOTHING;
            self.look_at(now, d);
        }
        self.channels.iter_mut().for_each(|channel| channel.outage(now));
        self.decoders.fill(Decoder::new(self.config.ecc_interval));
        self.registers.fill(Default::default());
        if let Some(reliability) = &mut self.reliability {
            reliability.sequences.fill(Default::default());
        }
        self.txns = Default::default();
        self.ended.clear();
        self.oldest_write = None;
        for index in 0..Nand::resources(&self.geometry) {
            agenda.disarm(ResourceId(self.first + index));
        }
        torn
    }

    /// A block whose first word line is torn holds data from now on all the same.
    fn note_torn(&mut self, die: DieId, operation: &Torn, now: SimTime) {
        if let (Some(reliability), Some(block)) = (&mut self.reliability, operation.block)
            && !operation.erase
        {
            let mut txn = Txn::new(Kind::GcProgram, die);
            (txn.plane, txn.planes) = (operation.planes.first as u8, operation.planes.count as u8);
            (txn.block, txn.page) = (block, operation.pages.first);
            reliability.finished(&txn, now);
        }
    }
}
