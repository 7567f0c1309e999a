//! Read retry after a failed decode.
//!
//! A failed read goes to the head of its queue. The die then serves its sequence of retry steps and soft decoding without a
//! break until a decode succeeds or all steps have failed. Regular steps follow one another (command, sensing, data out,
//! decode). Pipelined (PR2), the next step is sensed while data of the step before moves and is decoded; a reset cuts off a
//! needless sensing. Data of a step moves only after the decode before has failed.
//!
//! The time after a read's first decode is its retry time, waits for die and bus included.

use super::Nand;
use super::channel::Transfer;
use super::observer::DataMove;
use super::power::budget::Next;
use super::sequence::{NEVER, Sequence};
use super::txn::{Kind, Txn};
use crate::command::DieActivity;
use crate::die::State;
use crate::ids::{BlockId, DieId, TxnId};
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    fn sequence(&mut self, d: usize) -> &mut Sequence {
        &mut self.reliability.as_mut().expect("only reads with errors are retried").sequences[d]
    }

    /// Read of the die's sequence; none while a needless sensing is reset.
    pub(super) fn sequence_id(&self, d: usize) -> Option<TxnId> {
        let id = self.reliability.as_ref()?.sequences[d].id;
        (id != TxnId::NONE).then_some(id)
    }

    /// Activity of a die that senses for its retry sequence, or waits or moves data.
    fn sequence_use(&self, id: TxnId, senses: bool) -> (DieActivity, BlockId) {
        let txn = self.txns.get(id);
        let command = txn.kind.command();
        (if senses { command.array } else { command.bus }, txn.block)
    }

    fn set_sequence_activity(&mut self, now: SimTime, d: usize, id: TxnId, senses: bool) {
        let (usage, block) = self.sequence_use(id, senses);
        self.dies[d].go(now, State::Retrying, usage, block);
    }

    #[inline(never)]
    pub(super) fn decoded(&mut self, events: &mut EventQueue, now: SimTime, id: TxnId) {
        let txn = *self.txns.get(id);
        let d = txn.die.index();
        let further = self.reliability.as_ref().expect("decodes are judged").ecc.further_attempts();
        let fails = txn.is(Txn::FAILS);
        if !txn.is_retry() {
            if !fails || further == 0 {
                self.read_ends(now, id, fails);
            } else {
                let txn = self.txns.get_mut(id);
                txn.set(Txn::RETRY);
                txn.own = now.as_ns();
                self.retry_later(events, now, d, id);
            }
            return;
        }
        let sequence = self.sequence(d);
        debug_assert_eq!(sequence.id, id);
        sequence.decoding = false;
        let sequence = *sequence;
        if !fails || u32::from(txn.attempt()) == further {
            self.stop_sensing(now, d, id);
            self.read_ends(now, id, fails);
            self.end_sequence(events, now, d);
        } else if sequence.sensing == 0 {
            self.command_step(events, now, d, txn.attempt() + 1);
        } else if sequence.sensed {
            self.move_step(events, now, d);
        }
    }

    fn read_ends(&mut self, now: SimTime, id: TxnId, failed: bool) {
        let txn = self.txns.get_mut(id);
        if !txn.is(Txn::BUFFERED) {
            self.reliability.as_mut().expect("decodes are judged").read_done(txn, failed, now);
        }
        self.ends(now, id);
    }

    /// The first decode of a read has failed: it comes next on its die.
    fn retry_later(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let class = self.txns.get(id).kind.command().class;
        match self.dies[d].state() {
            State::Idle => {
                if self.observed {
                    self.book_idle(now, d);
                }
                self.start(events, now, d, id);
            }
            state => {
                self.contexts[d].queue.push_front(&mut self.txns, id);
                if let Some(order) = &mut self.flow_order {
                    order.goes_first(id);
                }
                match state {
                    State::Pulsing if self.may_preempt(d, class) => self.request_stop(events, now, d),
                    State::Suspended => self.next_on(events, now, d),
                    _ => {}
                }
            }
        }
    }

    /// The die starts a read whose first decode has failed.
    pub(super) fn start_sequence(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        *self.sequence(d) = Sequence { id, ..Sequence::default() };
        if self.dies[d].long().is_some() {
            self.counters.reads_in_suspension += 1;
            self.contexts[d].active.buffer_used = true;
        }
        if self.observed && !self.may_draw(events, now, d, Next::Retry) {
            return;
        }
        self.begin_sequence(events, now, d);
    }

    /// The first step of the die's sequence, once the power budget allows it.
    pub(super) fn begin_sequence(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let id = self.sequence(d).id;
        let txn = *self.txns.get(id);
        self.set_sequence_activity(now, d, id, false);
        self.dies[d].check_read(now, txn.plane.into(), txn.block, txn.page);
        self.command_step(events, now, d, 1);
    }

    /// Activity of the die while its sequence waits for the power budget, and the block read.
    pub(super) fn sequence_waits(&mut self, d: usize) -> (DieActivity, BlockId) {
        let id = self.sequence(d).id;
        self.sequence_use(id, false)
    }

    /// The page type that the die's sequence reads, and the command that does.
    pub(super) fn sequence_page(&self, d: usize) -> (u32, Kind) {
        let sequence = &self.reliability.as_ref().expect("retries").sequences[d];
        let txn = self.txns.get(sequence.id);
        (txn.page % self.geometry.pages_per_word_line, txn.kind)
    }

    /// The sensing under way in the die's sequence: its page type, and when it begins (behind its command).
    pub(super) fn sequence_senses(&self, d: usize) -> Option<(u32, SimTime)> {
        let sequence = self.reliability.as_ref().expect("retries").sequences[d];
        if sequence.id == TxnId::NONE || sequence.sense_ends == NEVER {
            return None;
        }
        let (sense, _) = self.step_work(self.txns.get(sequence.id), sequence.sensing);
        Some((self.sequence_page(d).0, SimTime(sequence.sense_ends.as_ns() - sense.as_ns())))
    }

    /// Command, page type and time done of the sensing under way in the die's sequence.
    pub(super) fn sensed_by_sequence(&self, now: SimTime, d: usize) -> Option<(Kind, u32, Duration)> {
        let (page_type, from) = self.sequence_senses(d)?;
        Some((self.sequence_page(d).1, page_type, Duration(now.as_ns().saturating_sub(from.as_ns()))))
    }

    pub(super) fn sequence_moves(&self, d: usize) -> bool {
        self.reliability.as_ref().is_some_and(|reliability| reliability.sequences[d].out_ends != NEVER)
    }

    fn book_step(&mut self, now: SimTime, d: usize) {
        if let Some((kind, page_type, done)) = self.sensed_by_sequence(now, d) {
            self.supply.tally.book_sensing(kind, page_type, done);
        }
    }

    /// The bus is wanted for the command of further attempt `attempt`.
    fn command_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize, attempt: u8) {
        let sequence = self.sequence(d);
        (sequence.sensing, sequence.sensed, sequence.moves_data) = (attempt, false, false);
        self.request_bus(events, now, d, Transfer::Command, self.timing.command);
    }

    /// Retry steps of the read in a sequence; what follows them is soft decoding.
    fn retry_steps(&self) -> u32 {
        self.reliability.as_ref().expect("retries").ecc.max_retries
    }

    /// How long further attempt `attempt` of `txn` senses, and how many transfers of its data follow.
    fn step_work(&self, txn: &Txn, attempt: u8) -> (Duration, u64) {
        let page_type = (txn.page % self.geometry.pages_per_word_line) as usize;
        let reliability = self.reliability.as_ref().expect("retries");
        let step = u32::from(attempt);
        if step <= reliability.ecc.max_retries {
            return (reliability.retry_sensing[page_type], 1);
        }
        let soft = reliability.ecc.soft[(step - reliability.ecc.max_retries - 1) as usize];
        (self.timing.read[page_type] * u64::from(soft.sensings), u64::from(soft.sensings))
    }

    /// The bus is taken for the die's sequence until `end`.
    pub(super) fn granted_to_sequence(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        end: SimTime,
    ) {
        let Sequence { id, sensing, moves_data, .. } = *self.sequence(d);
        if moves_data {
            self.sequence(d).out_ends = end;
            let bytes = self.step_bytes(id);
            let channel = self.geometry.channel_of(DieId(d as u32));
            if self.observed {
                self.observers.notify_move(DataMove { channel, into: false, bytes, at: now, end });
            }
        } else {
            let (sense, _) = self.step_work(self.txns.get(id), sensing);
            self.set_sequence_activity(now, d, id, true);
            self.sequence(d).sense_ends = end + sense;
        }
        self.arm_sequence(events, d);
    }

    /// Sets the die's timer to the earlier end of sensing and transfer.
    fn arm_sequence(&mut self, events: &mut EventQueue, d: usize) {
        let Sequence { sense_ends, out_ends, .. } = *self.sequence(d);
        let first = sense_ends.min(out_ends);
        if first < NEVER {
            events.arm(self.timer(d), first);
        }
    }

    /// The timer of a die in a sequence: data has moved, a sensing has ended, or a reset.
    pub(super) fn sequence_timer(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let Sequence { id, sense_ends, out_ends, .. } = *self.sequence(d);
        if id == TxnId::NONE {
            *self.sequence(d) = Sequence::default();
            self.leave_sequence(events, now, d);
            return;
        }
        if out_ends == now {
            self.sequence(d).out_ends = NEVER;
            self.step_moved(events, now, d, id);
        }
        if sense_ends == now {
            self.book_step(now, d);
            let sequence = self.sequence(d);
            (sequence.sensed, sequence.sense_ends) = (true, NEVER);
            let decoding = sequence.decoding;
            self.set_sequence_activity(now, d, id, false);
            if !decoding {
                self.move_step(events, now, d);
            }
        }
        self.arm_sequence(events, d);
    }

    /// The data of a further attempt has moved: it is decoded.
    fn step_moved(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let (kind, bytes) = (self.txns.get(id).kind, self.step_bytes(id));
        self.supply.tally.book_out(kind, bytes);
        let (attempt, units) = (self.txns.get(id).attempt(), self.txns.get(id).units());
        let latency = match u32::from(attempt).checked_sub(self.retry_steps() + 1) {
            None => self.decode_outcome(now, d, id),
            Some(stage) => {
                let reliability = self.reliability.as_mut().expect("retries");
                reliability.soft_decode_outcome(self.txns.get_mut(id), stage as usize)
            }
        };
        let c = self.contexts[d].channel as usize;
        if let Some(at) = self.decoders[c].enter(now, id, units * self.geometry.codewords_per_unit(), latency)
        {
            events.arm(self.decoder_timer(c), at);
        }
    }

    fn step_bytes(&self, id: TxnId) -> u64 {
        let txn = self.txns.get(id);
        let (_, transfers) = self.step_work(txn, txn.attempt());
        self.timing.bytes_of_units[txn.units() as usize] * transfers
    }

    /// The data of the step just sensed moves out; pipelined, the next is sensed meanwhile.
    fn move_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let steps = self.retry_steps();
        let pipelined = self.reliability.as_ref().expect("retries").ecc.retry.cancel_time().is_some();
        let sequence = self.sequence(d);
        let (id, attempt) = (sequence.id, sequence.sensing);
        (sequence.sensing, sequence.sensed) = (0, false);
        (sequence.decoding, sequence.moves_data) = (true, true);
        let txn = self.txns.get_mut(id);
        txn.set_attempts(txn.first_step(), attempt, txn.errors());
        let txn = *txn;
        if pipelined && u32::from(attempt) < steps {
            let (sense, _) = self.step_work(&txn, attempt + 1);
            let sequence = self.sequence(d);
            (sequence.sensing, sequence.sense_ends) = (attempt + 1, now + sense);
            self.set_sequence_activity(now, d, id, true);
            self.arm_sequence(events, d);
        }
        let (_, transfers) = self.step_work(&txn, attempt);
        let length = self.timing.transfer_units[txn.units() as usize] * transfers;
        self.request_bus(events, now, d, Transfer::Data, length);
    }

    /// Cuts off the needless sensing of the sequence; during the reset the die draws its idle current.
    fn stop_sensing(&mut self, now: SimTime, d: usize, id: TxnId) {
        if self.sequence(d).sense_ends != NEVER {
            self.book_step(now, d);
            self.set_sequence_activity(now, d, id, false);
        }
    }

    /// Ends the sequence: the die is free, after a reset if it senses.
    fn end_sequence(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let sequence = std::mem::take(self.sequence(d));
        if sequence.sensing == 0 || sequence.sensed {
            self.leave_sequence(events, now, d);
            return;
        }
        let reliability = self.reliability.as_mut().expect("retries");
        reliability.counters.cut_off_sensings += 1;
        let end = now + reliability.ecc.retry.cancel_time().unwrap_or_default();
        events.arm(self.timer(d), end);
    }

    fn leave_sequence(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.release_power(d);
        let (to, usage) = match self.dies[d].long() {
            Some(_) => (State::Suspended, DieActivity::Suspended),
            None => (State::Idle, DieActivity::Idle),
        };
        self.dies[d].go(now, to, usage, BlockId::NONE);
        self.next_on(events, now, d);
    }
}
