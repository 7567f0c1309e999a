//! Commands that leave cells as they are: they have their die for the times of their steps, and are neither suspended nor
//! followed by their block.

use super::Nand;
use super::txn::Txn;
use crate::command::Class;
use crate::numbers::TxnId;
use crate::pulse::PulseTrain;
use interpulse_engine::{Agenda, SimTime};

impl Nand {
    /// The die takes up a command without pulses.
    #[cold]
    #[inline(never)]
    pub(super) fn start_without_pulses(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        id: TxnId,
        txn: &Txn,
    ) {
        let nested = self.dies[d].long().is_some();
        self.dies[d].begin_long(now, txn.kind, PulseTrain::NONE, None, txn.planes());
        let hand = &mut self.bays[d].hand;
        if nested {
            hand.beneath = hand.long;
        }
        (hand.long, hand.count, hand.powered, hand.steps) = (id, 0, false, txn.kind.command().steps);
        hand.loads = txn.planes().count;
        self.next_step(agenda, now, d);
    }

    /// The last step of a command without pulses is over.
    pub(super) fn finished_without_pulses(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.release_power(d);
        let die = &mut self.dies[d];
        let kind = die.long().expect("only a long operation finishes").kind;
        die.finish_long(now);
        let hand = &mut self.bays[d].hand;
        let id = hand.long;
        (hand.long, hand.beneath) = (hand.beneath, TxnId::NONE);
        *kind.count(&mut self.counters) += 1;
        if kind.command().class == Class::HostWrite {
            self.account_program(now, d, id);
        }
        self.ends(now, id);
        self.next_on(agenda, now, d);
    }
}
