//! Power cut of an array: all transactions end, and torn operations are reported.

use super::ecc::Decoder;
use super::queue::Queue;
use super::txn::{Kind, Txn};
use super::{ActiveOps, Nand};
use crate::die::outage::Torn;
use crate::ids::DieId;
use interpulse_engine::{EventQueue, ResourceId, SimTime};

impl Nand {
    /// Cuts the power: all transactions end without an outcome. Returns the torn programs and erases with their dies.
    /// Capacitors, if there are some, complete reprograms.
    pub fn outage(&mut self, events: &mut EventQueue, capacitors: bool) -> Vec<(DieId, Torn)> {
        assert!(
            self.observers.meter.is_none() && self.supply.budget.is_none(),
            "meter and budget do not support power cuts"
        );
        let now = events.now();
        let mut torn = Vec::new();
        for d in 0..self.dies.len() {
            // Books the current drawn so far.
            if self.dies[d].state() != crate::die::State::Idle {
                let mut tally = std::mem::take(&mut self.supply.tally);
                self.dies[d].usage.settle(now);
                self.book_open(&mut tally, now, d);
                self.supply.tally = tally;
            }
            let operations = self.dies[d].outage(now, capacitors);
            for operation in operations {
                self.note_torn(DieId(d as u32), &operation, now);
                torn.push((DieId(d as u32), operation));
            }
            self.contexts[d].queue = Queue::default();
            self.contexts[d].active = ActiveOps::NOTHING;
            self.report_changes(now, d);
        }
        if let Some(stalls) = &mut self.stalls {
            stalls.end(now);
        }
        self.joined.iter_mut().for_each(Vec::clear);
        self.erased_with.iter_mut().for_each(Vec::clear);
        self.plane_reads.outage();
        self.channels.iter_mut().for_each(|channel| channel.outage(now));
        self.decoders.fill(Decoder::new(self.config.ecc_interval));
        self.registers.fill(Default::default());
        if let Some(reliability) = &mut self.reliability {
            reliability.sequences.fill(Default::default());
            reliability.repeats.fill(Default::default());
        }
        self.txns = Default::default();
        self.ended.clear();
        self.oldest_write = None;
        for index in 0..Nand::resources(&self.geometry) {
            events.disarm(ResourceId(self.first + index));
        }
        torn
    }

    /// A block with a torn first word line counts as holding data. A reprogram does not change its age.
    fn note_torn(&mut self, die: DieId, operation: &Torn, now: SimTime) {
        if let (Some(reliability), Some(block)) = (&mut self.reliability, operation.block)
            && !operation.erase
            && operation.reprograms.is_none()
        {
            let mut txn = Txn::new(Kind::GcProgram, die);
            (txn.plane, txn.planes) = (operation.planes.first as u8, operation.planes.count as u8);
            (txn.block, txn.page) = (block, operation.pages.first);
            reliability.finished(&txn, now);
        }
    }
}
