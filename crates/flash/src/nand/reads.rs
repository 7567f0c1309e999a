//! Reads on a die: command, sensing, moving out; reads of several planes together.

use super::channel::Transfer;
use super::power::budget::Next;
use super::power::tally::NO_SENSING;
use super::queue::Policy;
use super::txn::Txn;
use super::{Foretold, MAX_BATCH, Nand};
use crate::command::{Use, Wait};
use crate::die::{Doing, State};
use crate::numbers::{BlockId, TxnId};
use interpulse_engine::{Agenda, Duration, SimTime};

impl Nand {
    pub(super) fn start_read(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        if txn.is_retry() {
            self.start_sequence(agenda, now, d, id);
            return;
        }
        let hand = &mut self.bays[d].hand;
        hand.reads[0] = id;
        (hand.count, hand.moved) = (1, 0);
        if self.config.multi_plane_reads && self.bays[d].queue.first(txn.kind.command().class) != TxnId::NONE
        {
            let txn = *txn;
            self.gather_planes(now, d, &txn);
        }
        if self.watched && !self.may_draw(agenda, now, d, Next::Read) {
            return;
        }
        self.command_reads(agenda, now, d);
    }

    /// The reads in hand ask for the bus.
    #[inline(always)]
    pub(super) fn command_reads(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let (hand, die) = (&self.bays[d].hand, &mut self.dies[d]);
        let txn = self.txns.get(hand.reads[0]);
        die.check_read(now, txn.plane.into(), txn.block, txn.page);
        if hand.count > 1 {
            for &id in &hand.reads[1..hand.count as usize] {
                let t = self.txns.get(id);
                die.check_read(now, t.plane.into(), t.block, t.page);
            }
        }
        if die.long().is_some() {
            self.counters.reads_in_suspension += u64::from(hand.count);
        }
        let command = self.timing.command * u64::from(hand.count);
        let (usage, block) = (txn.kind.command().bus, txn.block);
        if self.takes_bus(now, d, command) {
            // Nothing comes between command and sensing.
            let (sense, array, _) = self.sense_time(d);
            self.dies[d].pass(
                now,
                Doing { state: State::Command, usage },
                Doing { state: State::Sensing, usage: array },
                block,
            );
            agenda.arm(self.timer(d), now + command + sense);
        } else {
            self.dies[d].go(now, State::Command, usage, block);
            self.wait_for_bus(agenda, d, Transfer::Command, command);
        }
    }

    /// Adds waiting reads of the same class on other planes to the read in hand. Under `fifo` they overtake
    /// nothing that was submitted earlier; in a suspension they are those that it serves.
    pub(super) fn gather_planes(&mut self, now: SimTime, d: usize, first: &Txn) {
        let class = first.kind.command().class;
        let before_seq = if self.dies[d].long().is_some() {
            self.serves_before(d)
        } else if self.config.policy == Policy::Fifo {
            self.bays[d].queue.oldest_but(&self.txns, class)
        } else {
            u64::MAX
        };
        let mut taken: u64 = 1 << first.plane;
        let (mut before, mut id) = (TxnId::NONE, self.bays[d].queue.first(class));
        while id != TxnId::NONE && (self.bays[d].hand.count as usize) < MAX_BATCH {
            let t = *self.txns.get(id);
            if t.seq >= before_seq {
                break;
            }
            if taken & 1 << t.plane == 0 && !t.is_retry() {
                taken |= 1 << t.plane;
                self.bays[d].queue.unlink(&mut self.txns, before, id);
                self.account_wait(now, d, id);
                let hand = &mut self.bays[d].hand;
                hand.reads[hand.count as usize] = id;
                hand.count += 1;
                self.counters.multi_plane_reads += 1;
            } else {
                before = id;
            }
            id = t.next;
        }
    }

    #[inline(never)]
    pub(super) fn sensed(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        if self.watched {
            self.release_power(d);
        }
        if self.geometry.cache_reads && self.give_to_register(agenda, now, d) {
            return;
        }
        self.next_out(agenda, now, d);
    }

    /// The data of the next read in hand moves out, as soon as the bus is free.
    #[inline(always)]
    fn next_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let (die, bay) = (&mut self.dies[d], &self.bays[d]);
        let hand = &bay.hand;
        let next = self.txns.get(hand.reads[hand.moved as usize]);
        let last = if hand.count == 1 { next } else { self.txns.get(hand.reads[hand.count as usize - 1]) };
        let (usage, block) = (last.kind.command().bus, last.block);
        let length = self.timing.transfer_units[next.units() as usize];
        if self.channels[bay.channel as usize].take_if_free(now, length) {
            self.counters.bus_time += length.as_ns();
            die.pass(now, Doing { state: State::OutWait, usage }, Doing { state: State::Out, usage }, block);
            agenda.arm(self.timer(d), now + length);
        } else {
            die.go(now, State::OutWait, usage, block);
            self.wait_for_bus(agenda, d, Transfer::Data, length);
        }
    }

    /// Die `d`, which waits with what it has sensed, asks for the bus.
    pub(super) fn want_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.want_bus(agenda, now, d, Transfer::Data, self.out_time(d));
    }

    /// How long the data of the next read in hand moves.
    #[inline]
    fn out_time(&self, d: usize) -> Duration {
        let hand = &self.bays[d].hand;
        let units = self.txns.get(hand.reads[hand.moved as usize]).units();
        self.timing.transfer_units[units as usize]
    }

    #[inline(never)]
    pub(super) fn moved_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let bay = &mut self.bays[d];
        let (channel, hand) = (bay.channel as usize, &mut bay.hand);
        let id = hand.reads[hand.moved as usize];
        hand.moved += 1;
        let (more, none_waits) = (hand.moved < hand.count, bay.queue.is_empty());
        let block = self.has_moved(agenda, now, d, channel, id);
        if more {
            self.next_out(agenda, now, d);
            return;
        }
        let die = &mut self.dies[d];
        if die.long().is_some() {
            die.go(now, State::Suspended, Use::Suspended, block);
            self.next_in_suspension(agenda, now, d);
        } else {
            die.go(now, State::Idle, Use::Idle, block);
            if !none_waits {
                self.next_on(agenda, now, d);
            }
        }
    }

    /// The data of a read of die `d` has moved over this channel: it is decoded. Returns the block read.
    #[inline(always)]
    pub(super) fn has_moved(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        channel: usize,
        id: TxnId,
    ) -> BlockId {
        let txn = self.txns.get_mut(id);
        // Everything since the die took the read that was not sensing was bus.
        let spent = now.as_ns() - txn.mark.as_ns();
        txn.waits[Wait::Bus as usize] += spent - txn.waits[Wait::Sensing as usize];
        txn.mark = now;
        let (kind, block, units, foretold) = (txn.kind, txn.block, txn.units(), txn.is_foretold());
        self.supply.tally.book_out(kind, self.timing.bytes_of_units[units as usize]);
        *kind.count(&mut self.counters) += 1;
        let latency = self.judge(now, d, id);
        let codewords = units * self.geometry.codewords_per_unit();
        if foretold && !self.watched && self.reliability.is_none() {
            // Nothing will change it any more.
            let at = self.decoders[channel].pass(now, codewords, latency);
            self.ended.push(Foretold { id, at, by: self.decoder_timer(channel) });
            return block;
        }
        if let Some(at) = self.decoders[channel].enter(now, id, codewords, latency) {
            agenda.arm(self.decoder_timer(channel), at);
        }
        block
    }

    /// The longest tR of the reads in hand; books it as their sensing. Pages in the page buffer need none.
    #[inline(always)]
    pub(super) fn sense_time(&mut self, d: usize) -> (Duration, Use, BlockId) {
        let suspended = self.dies[d].long().is_some();
        if self.bays[d].hand.count == 1 && !suspended {
            let hand = &mut self.bays[d].hand;
            hand.buffer_used = true;
            let txn = self.txns.get_mut(hand.reads[0]);
            let page_type = txn.page % self.geometry.pages_per_word_line;
            let time = txn.sensing(&self.timing, page_type as usize);
            txn.waits[Wait::Sensing as usize] += time.as_ns();
            self.supply.tally.book_sensing(txn.kind, page_type, time);
            return (time, txn.kind.command().array, txn.block);
        }
        self.sense_together(d, suspended)
    }

    /// As [`Nand::sense_time`], of several reads, or in a suspension.
    fn sense_together(&mut self, d: usize, suspended: bool) -> (Duration, Use, BlockId) {
        let hand = self.bays[d].hand;
        let (mut longest, mut of) = (Duration::ZERO, NO_SENSING);
        for &id in &hand.reads[..hand.count as usize] {
            let txn = self.txns.get(id);
            if suspended && self.dies[d].buffers(txn.plane.into(), txn.block, txn.page) {
                self.counters.page_buffer_reads += 1;
                self.txns.get_mut(id).set(Txn::BUFFERED);
                continue;
            }
            self.bays[d].hand.buffer_used = true;
            let page_type = txn.page % self.geometry.pages_per_word_line;
            let time = txn.sensing(&self.timing, page_type as usize);
            if time >= longest {
                (longest, of) = (time, page_type);
            }
        }
        for &id in &hand.reads[..hand.count as usize] {
            self.txns.get_mut(id).waits[Wait::Sensing as usize] += longest.as_ns();
        }
        let first = self.txns.get(hand.reads[0]);
        self.supply.tally.book_sensing(first.kind, of, longest);
        (longest, first.kind.command().array, first.block)
    }

    /// What moving the data of the reads in hand is to those who wait, and the block read.
    #[inline]
    pub(super) fn read_use(&self, d: usize) -> (Use, BlockId) {
        let hand = &self.bays[d].hand;
        let last = self.txns.get(hand.reads[hand.count as usize - 1]);
        (last.kind.command().bus, last.block)
    }
}
