//! A read that has its die to itself, as most have: nothing is suspended beneath it, no other page is read with it, and
//! nobody watches. What it takes from its submission to the sensing is a straight line through one die.

use super::Nand;
use super::channel::Transfer;
use crate::command::{Effect, Wait};
use crate::die::{Doing, State};
use crate::numbers::TxnId;
use interpulse_engine::{Agenda, SimTime};

impl Nand {
    /// Whether there is nothing but dies, channels and decoders: no cache registers, and nobody who watches, a budget of
    /// power among them.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        !self.watched && !self.has_registers()
    }

    /// Whether `id`, which idle die `d` takes up, is a read that has it to itself.
    #[inline]
    pub(super) fn may_read_alone(&self, d: usize, id: TxnId) -> bool {
        let txn = self.txns.get(id);
        let command = txn.kind.command();
        command.effect == Effect::Reads
            && self.is_plain()
            && !txn.is_retry()
            && !(self.config.multi_plane_reads && self.bays[d].queue.first(command.class) != TxnId::NONE)
    }

    /// Idle die `d` takes up the read `id`, which has it to itself.
    #[inline]
    pub(super) fn read_alone(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        let (die, bay, txn) = (&mut self.dies[d], &mut self.bays[d], self.txns.get_mut(id));
        debug_assert!(die.long().is_none() && !txn.is_retry());
        let hand = &mut bay.hand;
        hand.reads[0] = id;
        (hand.count, hand.moved) = (1, 0);
        die.check_read(now, txn.plane.into(), txn.block, txn.page);
        let (row, command) = (txn.kind.command(), self.timing.command);
        if !self.channels[bay.channel as usize].take_if_free(now, command) {
            die.go(now, State::Command, row.bus, txn.block);
            self.wait_for_bus(agenda, d, Transfer::Command, command);
            return;
        }
        self.counters.bus_time += command.as_ns();
        hand.buffer_used = true;
        let page_type = txn.page % self.geometry.pages_per_word_line;
        let sense = txn.sensing(&self.timing, page_type as usize);
        txn.waits[Wait::Sensing as usize] += sense.as_ns();
        self.supply.tally.book_sensing(txn.kind, page_type, sense);
        // Nothing comes between command and sensing.
        die.pass(
            now,
            Doing { state: State::Command, usage: row.bus },
            Doing { state: State::Sensing, usage: row.array },
            txn.block,
        );
        agenda.arm(self.timer(d), now + command + sense);
    }
}
