//! A read of a single page, as most are: no other page is read with it, and nobody watches. What it takes from the
//! moment the die takes it up to the sensing is a straight line through one die.

use super::Nand;
use super::channel::Transfer;
use super::txn::Txn;
use crate::command::{Effect, Wait};
use crate::die::{Doing, State};
use crate::numbers::TxnId;
use interpulse_engine::{Agenda, Duration, SimTime};

impl Nand {
    /// Whether there is nothing but dies, channels and decoders: no cache registers, and nobody who watches, a budget
    /// of power among them.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        !self.watched && !self.has_registers()
    }

    /// Die `d` takes up `id`, which was the first in line.
    #[inline(always)]
    pub(super) fn take_up(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        let command = txn.kind.command();
        let others = self.config.multi_plane_reads && self.bays[d].queue.first(command.class) != TxnId::NONE;
        if command.effect == Effect::Reads && self.is_plain() && !txn.is_retry() && !others {
            self.read_single(agenda, now, d, id);
        } else {
            self.start(agenda, now, d, id);
        }
    }

    /// Die `d`, idle or suspended, takes up the read `id` alone.
    #[inline(never)]
    pub(super) fn read_single(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        let (die, bay, txn) = (&mut self.dies[d], &mut self.bays[d], self.txns.get_mut(id));
        debug_assert!(!txn.is_retry());
        let hand = &mut bay.hand;
        hand.reads[0] = id;
        (hand.count, hand.moved) = (1, 0);
        die.check_read(now, txn.plane.into(), txn.block, txn.page);
        let suspended = die.long().is_some();
        self.counters.reads_in_suspension += u64::from(suspended);
        let (row, command) = (txn.kind.command(), self.timing.command);
        if !self.channels[bay.channel as usize].take_if_free(now, command) {
            die.go(now, State::Command, row.bus, txn.block);
            self.wait_for_bus(agenda, d, Transfer::Command, command);
            return;
        }
        self.counters.bus_time += command.as_ns();
        let mut sense = Duration::ZERO;
        if suspended && die.buffers(txn.plane.into(), txn.block, txn.page) {
            self.counters.page_buffer_reads += 1;
            txn.set(Txn::BUFFERED);
        } else {
            hand.buffer_used = true;
            let page_type = txn.page % self.geometry.pages_per_word_line;
            sense = txn.sensing(&self.timing, page_type as usize);
            txn.waits[Wait::Sensing as usize] += sense.as_ns();
            self.supply.tally.book_sensing(txn.kind, page_type, sense);
        }
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
