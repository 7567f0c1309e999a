//! Independent plane reads: every plane of a die reads a page of its own, in a step of its own.
//!
//! A plane has a timer of its own and its own turn on the bus; its page buffer holds the data until that moves. The die is in
//! one state, [`State::PlaneReads`], until the last plane is done. It then takes its next transaction as after any read: a
//! program, an erase, a retry or a resume that comes next starts no earlier, and reads behind it start no earlier than it.
//!
//! Die time counts once, for the plane whose sensing or transfer began first. The others count beside it, for the energy only:
//! each read draws the current that it draws alone.

use super::Nand;
use super::channel::{Transfer, Waiter};
use super::observer::DataMove;
use super::planes::{IDLE, Plane, Span, Step};
use super::queue::Policy;
use super::txn::Txn;
use crate::command::{DieActivity, Wait};
use crate::die::{DiePhase, State};
use crate::ids::{DieId, TxnId};
use crate::parts::power::Draw;
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};

impl Nand {
    // ---- starting -----------------------------------------------------------------------------------

    /// Die `d`, idle or suspended, starts the read `id`, and waiting ones of other planes with it.
    #[cold]
    #[inline(never)]
    pub(super) fn start_plane_reads(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        self.plane_reads.dies[d] = (0, now);
        self.start_on_plane(events, now, d, id);
        self.add_plane_reads(events, now, d);
    }

    /// Starts the waiting reads whose planes are idle, as far as they come next.
    #[cold]
    #[inline(never)]
    pub(super) fn add_plane_reads(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        while let Some(id) = self.take_plane_read(now, d) {
            self.account_wait(now, d, id);
            self.start_on_plane(events, now, d, id);
        }
    }

    /// Takes the next read for an idle plane out of the queue. Reads of its class on busy planes may be overtaken, under the
    /// rules of [`Nand::gather_planes`]; a read that is no page read, or a retry, is not.
    fn take_plane_read(&mut self, now: SimTime, d: usize) -> Option<TxnId> {
        let busy = self.plane_reads.dies[d].0;
        if busy.count_ones() as usize == self.plane_reads.planes || self.contexts[d].queue.is_empty() {
            return None;
        }
        let class = self.next_read(now, d)?;
        let before_seq = if self.dies[d].long().is_some() {
            self.serves_before(d)
        } else if self.config.policy == Policy::Fifo {
            self.contexts[d].queue.oldest_but(&self.txns, class)
        } else {
            u64::MAX
        };
        let (mut before, mut id) = (TxnId::NONE, self.contexts[d].queue.first(class));
        while id != TxnId::NONE {
            let txn = self.txns.get(id);
            if txn.seq >= before_seq || txn.is_retry() || !txn.kind.command().is_page_read() {
                return None;
            }
            if busy & 1 << txn.plane == 0 {
                self.contexts[d].queue.unlink(&mut self.txns, before, id);
                return Some(id);
            }
            (before, id) = (id, txn.next);
        }
        None
    }

    /// Read `id` starts on its plane, which is idle: it requests the bus for its command.
    fn start_on_plane(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        let plane = txn.plane;
        self.dies[d].check_read(now, plane.into(), txn.block, txn.page);
        self.counters.reads_in_suspension += u64::from(self.dies[d].long().is_some());
        self.book_spans(now, d);
        self.plane_reads.dies[d].0 |= 1 << plane;
        *self.plane_reads.plane(d, plane) = Plane { id, ..IDLE };
        self.request_bus_for_plane(events, now, d, plane, Transfer::Command, self.timing.command);
    }

    // ---- steps --------------------------------------------------------------------------------------

    pub(super) fn plane_timer(&self, d: usize, plane: u8) -> ResourceId {
        let before = self.dies.len() + self.channels.len() + self.decoders.len();
        ResourceId(self.first + (before + d * self.plane_reads.planes + usize::from(plane)) as u32)
    }

    fn request_bus_for_plane(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        plane: u8,
        kind: Transfer,
        length: Duration,
    ) {
        if self.takes_bus(now, d, kind, length) {
            self.granted_to_plane(events, now, d, plane, length);
        } else {
            self.queue_for_bus(events, Waiter::plane(DieId(d as u32), plane), kind, length);
            self.show_leading(now, d);
        }
    }

    /// The bus is taken for `length` by a plane of die `d`, which continues.
    #[cold]
    #[inline(never)]
    pub(super) fn granted_to_plane(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        plane: u8,
        length: Duration,
    ) {
        let end = now + length;
        self.book_spans(now, d);
        let of = *self.plane_reads.plane(d, plane);
        let Plane { id, step, .. } = of;
        let (next, timer) = match step {
            Step::CommandWait => {
                let sense = self.sense_on_plane(d, id);
                (Plane { step: Step::Senses, from: end, ..of }, end + sense)
            }
            Step::OutWait => {
                if self.observed {
                    let bytes = self.timing.bytes_of_units[self.txns.get(id).units() as usize];
                    let channel = self.contexts[d].channel;
                    self.observers.notify_move(DataMove { channel, into: false, bytes, at: now, end });
                }
                (Plane { step: Step::Moves, from: now, ..of }, end)
            }
            Step::Senses | Step::Predicts | Step::Moves => {
                unreachable!("plane {plane} of die {d} requested no bus")
            }
        };
        *self.plane_reads.plane(d, plane) = next;
        events.arm(self.plane_timer(d, plane), timer);
        self.show_leading(now, d);
    }

    /// tR of read `id`; none if the page is in the page buffer of a suspended program.
    fn sense_on_plane(&mut self, d: usize, id: TxnId) -> Duration {
        let (die, txn) = (&self.dies[d], self.txns.get_mut(id));
        if die.long().is_some() && die.buffers(txn.plane.into(), txn.block, txn.page) {
            self.counters.page_buffer_reads += 1;
            txn.set(Txn::BUFFERED);
            return Duration::ZERO;
        }
        self.contexts[d].active.buffer_used = true;
        let sense = txn.sensing(&self.timing, (txn.page % self.geometry.pages_per_word_line) as usize);
        txn.waits[Wait::Sensing as usize] += sense.as_ns();
        sense
    }

    /// Timer of a plane: it has sensed, or its data has moved. Returns the die.
    pub(super) fn on_plane(&mut self, events: &mut EventQueue, now: SimTime, index: usize) -> usize {
        let (d, plane) = (index / self.plane_reads.planes, (index % self.plane_reads.planes) as u8);
        self.book_spans(now, d);
        let Plane { id, step, .. } = *self.plane_reads.plane(d, plane);
        if step != Step::Moves {
            if self.acts_after_sensing && self.plane_continues(events, now, d, plane) {
                return d;
            }
            *self.plane_reads.plane(d, plane) = Plane { id, step: Step::OutWait, ..IDLE };
            let length = self.timing.transfer_units[self.txns.get(id).units() as usize];
            self.request_bus_for_plane(events, now, d, plane, Transfer::Data, length);
            return d;
        }
        *self.plane_reads.plane(d, plane) = IDLE;
        self.plane_reads.dies[d].0 &= !(1 << plane);
        let channel = self.contexts[d].channel as usize;
        let block = self.has_moved(events, now, d, channel, id);
        self.add_plane_reads(events, now, d);
        if self.plane_reads.dies[d].0 > 0 {
            self.show_leading(now, d);
            return d;
        }
        let (to, usage) = match self.dies[d].long() {
            Some(_) => (State::Suspended, DieActivity::Suspended),
            None => (State::Idle, DieActivity::Idle),
        };
        self.dies[d].go(now, to, usage, block);
        self.next_on(events, now, d);
        d
    }

    // ---- account ------------------------------------------------------------------------------------

    /// The die's activity is that of its leading plane.
    pub(super) fn show_leading(&mut self, now: SimTime, d: usize) {
        let plane = self.plane_reads.leading(d).expect("a plane reads");
        let txn = self.txns.get(plane.id);
        let row = txn.kind.command();
        let senses = matches!(plane.step, Step::Senses | Step::Predicts);
        let usage = if senses { row.array } else { row.bus };
        let block = txn.block;
        self.dies[d].go(now, State::PlaneReads, usage, block);
    }

    fn book_spans(&mut self, now: SimTime, d: usize) {
        let word_line = self.geometry.pages_per_word_line;
        for span in self.plane_reads.spans(&self.txns, word_line, now, d) {
            span.book(&mut self.supply.tally);
        }
        self.plane_reads.dies[d].1 = now;
    }

    /// What the planes of die `d` have done since it was last booked.
    pub(super) fn plane_spans(&self, now: SimTime, d: usize) -> impl Iterator<Item = Span> {
        self.plane_reads.spans(&self.txns, self.geometry.pages_per_word_line, now, d)
    }

    /// The read of the leading plane of die `d`.
    pub(super) fn leading_read(&self, d: usize) -> Option<TxnId> {
        self.plane_reads.leading(d).map(|plane| plane.id)
    }

    /// Phase and current of the leading plane of die `d`, and when they begin.
    pub(super) fn leading_phase(&self, d: usize) -> (DiePhase, Draw, SimTime) {
        let since = self.dies[d].since();
        let Some(plane) = self.plane_reads.leading(d) else { return (DiePhase::Bus, Draw::Idle, since) };
        let (phase, from) = match plane.step {
            Step::Senses => (DiePhase::Sense, since.max(plane.from)),
            Step::Predicts => (DiePhase::Predict, since),
            Step::Moves => (DiePhase::Out, since),
            Step::CommandWait | Step::OutWait => (DiePhase::Bus, since),
        };
        let draw = plane.draw(self.txns.get(plane.id), self.geometry.pages_per_word_line);
        (phase, draw, from)
    }

    /// Whether data of a plane of die `d` is on the bus.
    pub(super) fn a_plane_moves(&self, d: usize) -> bool {
        self.plane_reads.reading(d).any(|plane| plane.step == Step::Moves)
    }
}
