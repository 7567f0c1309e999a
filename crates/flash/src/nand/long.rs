//! Programs and erases on a die: loading the page buffer, pulses, the end.

use super::Nand;
use super::channel::Transfer;
use super::power::budget::Next;
use super::trains::{block_key, slowest, word_line_key};
use super::txn::Txn;
use crate::command::{Class, Effect, Step, Use, Wait};
use crate::die::{Doing, State};
use crate::geometry::Pages;
use crate::numbers::{BlockId, TxnId, WordLineId};
use crate::pulse::PulseTrain;
use crate::reprogram::Bit;
use crate::suspend::SuspendScheme;
use crate::suspend::eligibility::Candidate;
use interpulse_engine::{Agenda, Duration, SimTime};

impl Nand {
    /// The die takes up a program or an erase.
    pub(super) fn start_long(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        let txn = &{ *self.txns.get(id) };
        let command = txn.kind.command();
        if command.train.is_none() {
            self.start_without_pulses(agenda, now, d, id, txn);
            return;
        }
        let block = (txn.block != BlockId::NONE).then_some(txn.block);
        let (train, page_types) = self.train_of(d, txn);
        let nested = self.dies[d].long().is_some();
        let policy = self.config.suspend_policy(command.effect);
        let may_stop = policy.is_on() && (!nested || self.config.nesting) && {
            let cycles = if block.is_some() { self.most_worn(d, txn) } else { txn.cycles() };
            let planes = txn.planes.into();
            policy.eligible.admits(&Candidate { die: txn.die, cycles, planes, page_types })
        };
        let die = &mut self.dies[d];
        die.begin_long(now, txn.kind, train, block, txn.planes());
        die.set_may_stop(may_stop);
        let hand = &mut self.bays[d].hand;
        if nested {
            self.counters.programs_in_suspension += 1;
            hand.beneath = hand.long;
        }
        let reprograms = txn.reprograms().is_some();
        (hand.long, hand.count, hand.powered) = (id, 0, false);
        hand.steps = if reprograms { command.reprogram } else { command.steps };
        if command.effect == Effect::Programs {
            self.check_program(now, d, txn, block);
            if self.has_registers() && self.take_over(agenda, now, d, id) {
                return;
            }
        }
        self.next_step(agenda, now, d);
    }

    /// The train of an operation, and the types of the pages it programs.
    #[inline]
    fn train_of(&self, d: usize, txn: &Txn) -> (PulseTrain, u32) {
        let command = txn.kind.command();
        if command.effect == Effect::Erases {
            let worn =
                |plane| if txn.block == BlockId::NONE { txn.cycles() } else { self.worn(d, txn, plane) };
            let of = |plane| self.trains.erase(block_key(txn, plane), worn(plane));
            return (slowest(txn, of), 0);
        }
        let key = |plane| word_line_key(txn, plane, &self.geometry);
        let pages = self.geometry.pages_per_program;
        match txn.two_bit() {
            None => {
                let first = if pages == 1 { txn.page % self.geometry.pages_per_word_line } else { 0 };
                (slowest(txn, |plane| self.trains.program(key(plane))), ((1 << pages) - 1) << first)
            }
            Some(how) => {
                let first =
                    if pages == 1 { 1 << (txn.page % self.geometry.pages_per_word_line) } else { 0b11 };
                let types = how.bit().map_or(first, |bit| 1 << bit as u32);
                (slowest(txn, |plane| self.trains.two_bit(how.bit().is_some(), key(plane))), types)
            }
        }
    }

    /// Checks what the program on the die is going to write, and notes how many pages have to be loaded for it.
    fn check_program(&mut self, now: SimTime, d: usize, txn: &Txn, block: Option<BlockId>) {
        let planes = txn.planes();
        let pages = if txn.is_two_bit() {
            self.check_two_bit(now, d, txn)
        } else {
            let pages = self.geometry.pages_per_program;
            if let Some(block) = block {
                let pages = Pages { first: txn.page, count: pages };
                self.dies[d].check_program(now, planes, block, pages);
            }
            pages
        };
        self.bays[d].hand.loads = planes.count * pages;
    }

    /// The same for a word line with two bits per cell: pages to load on each plane.
    #[inline(never)]
    fn check_two_bit(&mut self, now: SimTime, d: usize, txn: &Txn) -> u32 {
        let how = txn.two_bit().expect("the caller has looked");
        let pages = self.geometry.pages_per_word_line;
        let (word_line, page) = (WordLineId::of_page(txn.page, pages), txn.page % pages);
        let by_page = self.geometry.pages_per_program == 1 && how.bit().is_none();
        let page = by_page.then_some(if page == 0 { Bit::Lsb } else { Bit::Msb });
        self.dies[d].check_two_bit(now, word_line, self.config.super_layer, how, page, txn.validity());
        self.counters.reprograms += u64::from(how.bit().is_some());
        self.counters.mlc_programs += u64::from(how.bit().is_none());
        if by_page || how.bit().is_some() { 1 } else { 2 }
    }

    /// The operation on the die comes to its next step, once the power budget allows it: what is granted before the first
    /// that draws current lasts to the end of the pulses. Page loads need no grant.
    #[inline(always)]
    pub(super) fn next_step(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        if !self.watched || self.may_step(agenda, now, d) {
            self.take_step(agenda, now, d, now);
        }
    }

    #[cold]
    fn may_step(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) -> bool {
        let hand = &mut self.bays[d].hand;
        let asks = !hand.powered && !matches!(hand.steps, [] | [Step::Load, ..]);
        hand.powered |= asks;
        !asks || self.may_draw(agenda, now, d, Next::Step)
    }

    /// The next step of the operation on the die begins at `start`, when its command has ended.
    #[inline(always)]
    pub(super) fn take_step(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, start: SimTime) {
        let hand = &mut self.bays[d].hand;
        let Some((step, rest)) = hand.steps.split_first() else {
            self.ended(agenda, now, d);
            return;
        };
        hand.steps = rest;
        match step {
            Step::Pulses => self.pulses_from(agenda, now, d, start),
            Step::Load => self.want_load(agenda, now, d, self.command_time(d)),
            _ => self.take_other_step(agenda, now, d, *step, start),
        }
    }

    #[inline(never)]
    fn take_other_step(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, step: Step, start: SimTime) {
        let (usage, block) = (self.load_use(d), self.long_block(d));
        match step {
            Step::Command => {
                self.dies[d].go(now, State::Command, usage, block);
                self.want_bus(agenda, now, d, Transfer::Command, self.command_time(d));
            }
            Step::Busy(busy) => {
                let array = self.dies[d].long().expect("an operation is on the die").kind.command().array;
                let usage = if busy.array { array } else { usage };
                self.dies[d].go(now, State::Busy, usage, block);
                agenda.arm(self.timer(d), start + (busy.time)(&self.timing));
            }
            other => unreachable!("{other:?} is a step of reads, which go their own way, or has been taken"),
        }
    }

    /// The time for which a step had the die is over.
    #[inline(never)]
    pub(super) fn busy_over(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.next_step(agenda, now, d);
    }

    /// The last step is over, and was no pulses.
    #[cold]
    #[inline(never)]
    fn ended(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        if self.dies[d].long().expect("an operation is on the die").effect == Effect::Nothing {
            self.finished_without_pulses(agenda, now, d);
        } else {
            self.finished(agenda, now, d);
        }
    }

    /// Command and address cycles of the operation on the die.
    #[inline]
    fn command_time(&self, d: usize) -> Duration {
        let planes = self.dies[d].long().expect("an operation is on the die").planes.count;
        self.timing.command * u64::from(planes)
    }

    /// Program/erase cycles of the operation's block on one plane, those that suspensions have added included.
    fn worn(&self, d: usize, txn: &Txn, plane: u32) -> u32 {
        txn.cycles().saturating_add(self.dies[d].blocks().stress_cycles(plane, txn.block))
    }

    /// The most of these over the operation's planes.
    fn most_worn(&self, d: usize, txn: &Txn) -> u32 {
        let worn = txn.planes().each().map(|plane| self.worn(d, txn, plane));
        worn.max().expect("an operation addresses a plane")
    }

    /// A page has been loaded into the page buffer.
    pub(super) fn loaded(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.book_load(d);
        self.bays[d].hand.told = false;
        self.bays[d].hand.loads -= 1;
        if self.bays[d].hand.loads > 0 {
            self.want_load(agenda, now, d, Duration::ZERO);
            return;
        }
        if self.dies[d].long().expect("a program has been loaded").suspends > 0 {
            self.reloaded(agenda, now, d);
        } else {
            self.next_step(agenda, now, d);
        }
    }

    /// The program on the die waits for the bus to load a page, and for `command` cycles before it.
    pub(super) fn want_load(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, command: Duration) {
        let usage = self.load_use(d);
        let block = self.long_block(d);
        let length = command + self.timing.page_load;
        if self.takes_bus(now, d, length) {
            self.dies[d].pass(
                now,
                Doing { state: State::LoadWait, usage },
                Doing { state: State::Load, usage },
                block,
            );
            self.loads(agenda, d, usage, length, now + length);
        } else {
            self.dies[d].go(now, State::LoadWait, usage, block);
            self.wait_for_bus(agenda, d, Transfer::Data, length);
        }
    }

    /// A page moves for `length`, up to `end`, into the page buffer of die `d`, which is put to this use.
    #[inline(always)]
    pub(super) fn loads(
        &mut self,
        agenda: &mut Agenda,
        d: usize,
        usage: Use,
        length: Duration,
        end: SimTime,
    ) {
        if usage == Use::Suspended {
            self.counters.reload_bus_time += length.as_ns();
        }
        agenda.arm(self.timer(d), end + self.timing.buffer_setup);
    }

    /// Pulses start or go on at `start`; what waits by then and may preempt asks for a stop.
    pub(super) fn pulses_from(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, start: SimTime) {
        let op = self.dies[d].long().expect("a long operation pulses");
        let (effect, resumed, may_stop) = (op.effect, op.suspends > 0, op.may_stop);
        let mut ramp = Duration::ZERO;
        if resumed {
            let policy = self.config.suspend_policy(effect);
            let ramps = policy.resume_ramp > Duration::ZERO && !policy.scheme.resumes_free();
            if ramps && self.dies[d].resumes_inside_pulse() {
                ramp = policy.resume_ramp;
            }
            let suspended = now.since(self.dies[d].halted()).as_ns();
            *self.counters.trains(effect).suspended += suspended;
        }
        let end = self.dies[d].start_pulses(now, start, ramp);
        self.bays[d].hand.stop_asked = false;
        agenda.arm(self.timer(d), end);
        if may_stop && self.is_preempted(d) {
            self.ask_to_stop(agenda, now, d);
        }
        if self.has_registers() {
            self.load_ahead(agenda, now, d);
        }
    }

    /// The last step of the operation on the die has ended.
    pub(super) fn finished(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.release_power(d);
        let hand = &mut self.bays[d].hand;
        let id = hand.long;
        (hand.long, hand.beneath) = (hand.beneath, TxnId::NONE);
        let die = &mut self.dies[d];
        let op = die.long().expect("only a long operation finishes");
        let owed = op.train.total().as_ns();
        let loops = u64::from(op.train.loops);
        let phases = [op.train.pulse * loops, op.train.reset * loops, op.train.verify * loops];
        self.supply.tally.book_phases(op.kind, phases);
        *op.kind.count(&mut self.counters) += 1;
        let command = op.kind.command();
        *self.counters.trains(op.effect).owed += owed;
        self.operations.record(op, now);
        die.finish_long(now);
        if command.class == Class::HostWrite {
            self.account_program(now, d, id);
        }
        let txn = self.txns.get(id);
        if let Some(reliability) = &mut self.reliability
            && txn.block != BlockId::NONE
        {
            reliability.finished(txn, now);
        }
        self.ends(now, id);
        self.next_on(agenda, now, d);
    }

    /// What the bus time of the operation on the die is to those who wait: part of it, or of its resume.
    #[inline]
    pub(super) fn load_use(&self, d: usize) -> Use {
        match self.dies[d].long().expect("an operation is on the die") {
            op if op.suspends > 0 => Use::Suspended,
            op => op.kind.command().bus,
        }
    }

    #[inline]
    pub(super) fn long_block(&self, d: usize) -> BlockId {
        self.dies[d].long().and_then(|op| op.block).unwrap_or(BlockId::NONE)
    }

    /// The account of a completed program of host data: what it waited for before it started and while it was
    /// stopped. From its start on, time spent on programs of host data is its own.
    pub(super) fn account_program(&mut self, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get_mut(id);
        let usage = &mut self.dies[d].usage;
        usage.read_since(now, &mut txn.waits);
        txn.own = usage.causes()[Wait::Programs as usize] - txn.own;
        txn.waits[Wait::Programs as usize] -= txn.own;
    }
}
