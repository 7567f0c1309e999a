//! Page reads on a die: command, sensing, data out; reads of several planes together.

use super::channel::Transfer;
use super::joined_programs::may_share;
use super::power::budget::Next;
use super::power::tally::NO_SENSING;
use super::queue::Policy;
use super::txn::Txn;
use super::{Ended, MAX_BATCH, Nand};
use crate::command::{ALL_PAGE_READS, DieActivity, Wait};
use crate::die::{Occupancy, State};
use crate::ids::{BlockId, TxnId};
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    pub(super) fn start_read(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        if txn.is_retry() {
            self.start_sequence(events, now, d, id);
            return;
        }
        if self.geometry.independent_plane_reads {
            self.start_plane_reads(events, now, d, id);
            return;
        }
        let active = &mut self.contexts[d].active;
        active.reads[0] = id;
        (active.count, active.moved) = (1, 0);
        if self.config.multi_plane_reads
            && self.contexts[d].queue.first(txn.kind.command().class) != TxnId::NONE
        {
            let txn = *txn;
            self.gather_planes(now, d, &txn);
        }
        if self.observed && !self.may_draw(events, now, d, Next::Read) {
            return;
        }
        self.command_reads(events, now, d);
    }

    /// The active reads request the bus.
    #[inline(always)]
    pub(super) fn command_reads(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let (active, die) = (&self.contexts[d].active, &mut self.dies[d]);
        let txn = self.txns.get(active.reads[0]);
        die.check_read(now, txn.plane.into(), txn.block, txn.page);
        if active.count > 1 {
            for &id in &active.reads[1..active.count as usize] {
                let t = self.txns.get(id);
                die.check_read(now, t.plane.into(), t.block, t.page);
            }
        }
        if die.long().is_some() {
            self.counters.reads_in_suspension += u64::from(active.count);
        }
        let command = self.timing.command * u64::from(active.count);
        let (usage, block) = (txn.kind.command().bus, txn.block);
        if self.takes_bus(now, d, Transfer::Command, command) {
            // Nothing comes between command and sensing.
            let (sense, array, _) = self.sense_time(d);
            self.dies[d].pass(
                now,
                Occupancy { state: State::Command, usage },
                Occupancy { state: State::Sensing, usage: array },
                block,
            );
            events.arm(self.timer(d), now + command + sense);
        } else {
            self.dies[d].go(now, State::Command, usage, block);
            self.wait_for_bus(events, d, Transfer::Command, command);
        }
    }

    /// Adds waiting reads of the same class on other planes to the active read. Under `fifo` they overtake no earlier
    /// transaction; in a suspension only reads that it serves are added.
    pub(super) fn gather_planes(&mut self, now: SimTime, d: usize, first: &Txn) {
        let class = first.kind.command().class;
        let before_seq = if self.dies[d].long().is_some() {
            self.serves_before(d)
        } else if self.config.policy == Policy::Fifo {
            self.contexts[d].queue.oldest_but(&self.txns, class)
        } else {
            u64::MAX
        };
        let mut taken: u64 = 1 << first.plane;
        let (mut before, mut id) = (TxnId::NONE, self.contexts[d].queue.first(class));
        while id != TxnId::NONE && (self.contexts[d].active.count as usize) < MAX_BATCH {
            let t = *self.txns.get(id);
            if t.seq >= before_seq {
                break;
            }
            let alike = (ALL_PAGE_READS || t.kind == first.kind)
                && may_share(self.plane_address, first, &t, self.geometry.pages_per_word_line);
            if alike && taken & 1 << t.plane == 0 && !t.is_retry() {
                taken |= 1 << t.plane;
                self.contexts[d].queue.unlink(&mut self.txns, before, id);
                self.account_wait(now, d, id);
                let active = &mut self.contexts[d].active;
                active.reads[active.count as usize] = id;
                active.count += 1;
                self.counters.multi_plane_reads += 1;
            } else {
                before = id;
            }
            id = t.next;
        }
    }

    #[inline(never)]
    pub(super) fn sensed(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.acts_after_sensing && self.after_sensing(events, now, d) {
            return;
        }
        if self.observed {
            self.release_power(d);
        }
        self.next_out(events, now, d);
    }

    /// The data of the next active read moves out as soon as the bus is free.
    #[inline(always)]
    fn next_out(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let (die, context) = (&mut self.dies[d], &self.contexts[d]);
        let active = &context.active;
        let next = self.txns.get(active.reads[active.moved as usize]);
        let last =
            if active.count == 1 { next } else { self.txns.get(active.reads[active.count as usize - 1]) };
        let (usage, block) = (last.kind.command().bus, last.block);
        let length = self.timing.transfer_units[next.units() as usize];
        if self.channels[context.channel as usize].take_if_free(now, length) {
            self.counters.bus_time += length.as_ns();
            die.pass(
                now,
                Occupancy { state: State::OutWait, usage },
                Occupancy { state: State::Out, usage },
                block,
            );
            events.arm(self.timer(d), now + length);
        } else {
            die.go(now, State::OutWait, usage, block);
            self.wait_for_bus(events, d, Transfer::Data, length);
        }
    }

    /// Die `d` requests the bus for its sensed data.
    pub(super) fn request_out(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.request_bus(events, now, d, Transfer::Data, self.out_time(d));
    }

    #[inline]
    fn out_time(&self, d: usize) -> Duration {
        let active = &self.contexts[d].active;
        let units = self.txns.get(active.reads[active.moved as usize]).units();
        self.timing.transfer_units[units as usize]
    }

    #[inline(never)]
    pub(super) fn moved_out(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let context = &mut self.contexts[d];
        let (channel, active) = (context.channel as usize, &mut context.active);
        let id = active.reads[active.moved as usize];
        active.moved += 1;
        let (more, none_waits) = (active.moved < active.count, context.queue.is_empty_and_free());
        let block = self.has_moved(events, now, d, channel, id);
        if more {
            self.next_out(events, now, d);
            return;
        }
        let die = &mut self.dies[d];
        if die.long().is_some() {
            die.go(now, State::Suspended, DieActivity::Suspended, block);
            self.next_in_suspension(events, now, d);
        } else {
            die.go(now, State::Idle, DieActivity::Idle, block);
            if !none_waits {
                self.next_on(events, now, d);
            }
        }
    }

    /// The data of a read of die `d` has moved over this channel: it is decoded. Returns the block read.
    #[inline(always)]
    pub(super) fn has_moved(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        channel: usize,
        id: TxnId,
    ) -> BlockId {
        let txn = self.txns.get_mut(id);
        // All time since the die started the read, except sensing, was bus time.
        let spent = now.as_ns() - txn.mark.as_ns();
        txn.waits[Wait::Bus as usize] += spent - txn.waits[Wait::Sensing as usize];
        txn.mark = now;
        let (kind, block, units, early) = (txn.kind, txn.block, txn.units(), txn.completes_early());
        self.supply.tally.book_out(kind, self.timing.bytes_of_units[units as usize]);
        *kind.count(&mut self.counters) += 1;
        let latency = self.decode_outcome(now, d, id);
        let codewords = units * self.geometry.codewords_per_unit();
        if early && !self.observed && self.reliability.is_none() {
            // The end is certain now.
            let at = self.decoders[channel].pass(now, codewords, latency);
            self.ended.push(Ended { id, at, by: self.decoder_timer(channel) });
            return block;
        }
        if let Some(at) = self.decoders[channel].enter(now, id, codewords, latency) {
            events.arm(self.decoder_timer(channel), at);
        }
        block
    }

    /// Longest tR of the active reads; books it as their sensing. Pages in the page buffer need none.
    #[inline(always)]
    pub(super) fn sense_time(&mut self, d: usize) -> (Duration, DieActivity, BlockId) {
        let suspended = self.dies[d].long().is_some();
        if self.contexts[d].active.count == 1 && !suspended {
            let active = &mut self.contexts[d].active;
            active.buffer_used = true;
            let txn = self.txns.get_mut(active.reads[0]);
            let page_type = txn.page % self.geometry.pages_per_word_line;
            let time = txn.sensing(&self.timing, page_type as usize);
            txn.waits[Wait::Sensing as usize] += time.as_ns();
            self.supply.tally.book_sensing(txn.kind, page_type, time);
            return (time, txn.kind.command().array, txn.block);
        }
        self.sense_together(d, suspended)
    }

    /// As [`Nand::sense_time`], of several reads, or in a suspension.
    fn sense_together(&mut self, d: usize, suspended: bool) -> (Duration, DieActivity, BlockId) {
        let active = self.contexts[d].active;
        let (mut longest, mut of) = (Duration::ZERO, NO_SENSING);
        for &id in &active.reads[..active.count as usize] {
            let txn = self.txns.get(id);
            if suspended && self.dies[d].buffers(txn.plane.into(), txn.block, txn.page) {
                self.counters.page_buffer_reads += 1;
                self.txns.get_mut(id).set(Txn::BUFFERED);
                continue;
            }
            self.contexts[d].active.buffer_used = true;
            let page_type = txn.page % self.geometry.pages_per_word_line;
            let time = txn.sensing(&self.timing, page_type as usize);
            if time >= longest {
                (longest, of) = (time, page_type);
            }
        }
        for &id in &active.reads[..active.count as usize] {
            self.txns.get_mut(id).waits[Wait::Sensing as usize] += longest.as_ns();
        }
        let first = self.txns.get(active.reads[0]);
        self.supply.tally.book_sensing(first.kind, of, longest);
        (longest, first.kind.command().array, first.block)
    }

    /// Activity of moving the data of the active reads, and the block read.
    #[inline]
    pub(super) fn read_use(&self, d: usize) -> (DieActivity, BlockId) {
        let active = &self.contexts[d].active;
        let last = self.txns.get(active.reads[active.count as usize - 1]);
        (last.kind.command().bus, last.block)
    }
}
