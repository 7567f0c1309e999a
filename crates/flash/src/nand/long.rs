//! Programs and erases on a die: loading the page buffer, pulses, the end.

use super::channel::Transfer;
use super::power::budget::Next;
use super::trains::{block_key, slowest, word_line_key};
use super::txn::{Kind, NO_BLOCK, NONE, Txn};
use super::{Nand, Outcome};
use crate::die::usage::{Use, Wait};
use crate::die::{LongKind, LongOp, State};
use crate::suspend::SuspendScheme;
use crate::suspend::eligibility::Candidate;
use interpulse_engine::{Agenda, Duration, SimTime};

/// Whether an operation is an erase.
pub(super) fn is_erase(op: &LongOp) -> bool {
    op.kind == LongKind::Erase
}

impl Nand {
    pub(super) fn start_program(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let kind = if txn.kind == Kind::HostProgram { LongKind::HostProgram } else { LongKind::GcProgram };
        let block = (txn.block != NO_BLOCK).then_some(txn.block);
        let pages = self.geometry.pages_per_program;
        let cycles = if block.is_some() { self.most_worn(d, txn) } else { txn.cycles };
        let die = &mut self.dies[d];
        let key = |plane| word_line_key(txn, plane, &self.geometry);
        let train = match txn.two_bit() {
            None => slowest(txn, |plane| self.trains.program(key(plane))),
            Some(how) => slowest(txn, |plane| self.trains.two_bit(how.bit().is_some(), key(plane))),
        };
        let nested = die.long().is_some();
        die.begin_long(now, kind, train, block, (txn.plane.into(), txn.planes.into()));
        if nested {
            self.counters.programs_in_suspension += 1;
            self.in_hand[d].beneath = self.in_hand[d].long;
        }
        let pages_of_train = match txn.two_bit() {
            Some(how) => how.bit().map_or(0b11, |bit| 1 << bit as u32),
            None if pages == 1 => 1 << (txn.page % self.geometry.pages_per_word_line),
            None => (1 << pages) - 1,
        };
        let candidate =
            Candidate { die: txn.die, cycles, planes: txn.planes.into(), page_types: pages_of_train };
        let policy = &self.config.program_suspend;
        die.set_may_stop(
            policy.is_on() && (!nested || self.config.nesting) && policy.eligible.admits(&candidate),
        );
        if txn.is_two_bit() {
            self.start_two_bit(agenda, now, d, id, txn);
            return;
        }
        if let Some(block) = block {
            die.check_program(now, (txn.plane.into(), txn.planes.into()), block, txn.page, pages);
        }
        let hand = &mut self.in_hand[d];
        (hand.long, hand.loads) = (id, pages * u32::from(txn.planes));
        self.want_load(agenda, now, d, self.timing.command * u64::from(txn.planes));
    }

    /// The program on the die works on a word line with two bits per cell: a reprogram first reads status and data.
    #[inline(never)]
    fn start_two_bit(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let how = txn.two_bit().expect("the caller has looked");
        let planes = (u32::from(txn.plane), u32::from(txn.planes));
        let pages = self.geometry.pages_per_word_line;
        let first = txn.page / pages * pages;
        let die = &mut self.dies[d];
        die.check_two_bit(
            now,
            planes,
            txn.block,
            (first, pages),
            self.config.super_layer,
            (how, txn.units as u8),
        );
        let pages = if how.bit().is_some() { 1 } else { 2 };
        self.counters.reprograms += u64::from(how.bit().is_some());
        self.counters.mlc_programs += u64::from(how.bit().is_none());
        let hand = &mut self.in_hand[d];
        (hand.long, hand.loads) = (id, planes.1 * pages);
        if how.bit().is_none() {
            self.want_load(agenda, now, d, self.timing.command * u64::from(planes.1));
        } else if self.may_draw(agenda, now, d, Next::Recall) {
            self.recall(agenda, now, d);
        }
    }

    /// Reads status and data of the word line that the program on the die changes.
    pub(super) fn recall(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let (usage, block) = (self.load_use(d), self.long_block(d));
        self.dies[d].go(now, State::Recalling, usage, block);
        agenda.arm(self.timer(d), now + self.timing.read_two_bit);
    }

    /// Status and data of the word line are in the page buffer: the new page comes over the bus.
    pub(super) fn recalled(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let planes = self.dies[d].long().expect("a reprogram is on the die").planes.1;
        self.want_load(agenda, now, d, self.timing.command * u64::from(planes));
    }

    /// Program/erase cycles of the operation's block on one plane, those that suspensions have added included.
    fn worn(&self, d: usize, txn: &Txn, plane: u32) -> u32 {
        txn.cycles.saturating_add(self.dies[d].blocks().stress_cycles(plane, txn.block))
    }

    /// The most of these over the operation's planes.
    fn most_worn(&self, d: usize, txn: &Txn) -> u32 {
        let worn = txn.planes().map(|plane| self.worn(d, txn, plane));
        worn.max().expect("an operation addresses a plane")
    }

    pub(super) fn start_erase(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let train = slowest(txn, |plane| self.trains.erase(block_key(txn, plane), self.worn(d, txn, plane)));
        let cycles = self.most_worn(d, txn);
        let candidate = Candidate { die: txn.die, cycles, planes: txn.planes.into(), page_types: 0 };
        let policy = &self.config.erase_suspend;
        let die = &mut self.dies[d];
        die.begin_long(now, LongKind::Erase, train, Some(txn.block), (txn.plane.into(), txn.planes.into()));
        die.set_may_stop(policy.is_on() && policy.eligible.admits(&candidate));
        let hand = &mut self.in_hand[d];
        (hand.long, hand.count) = (id, 0);
        if self.may_draw(agenda, now, d, Next::Erase) {
            self.command_erase(agenda, now, d);
        }
    }

    pub(super) fn loaded(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.book_load(d);
        self.in_hand[d].loads -= 1;
        if self.in_hand[d].loads > 0 {
            self.want_load(agenda, now, d, Duration::ZERO);
            return;
        }
        if self.dies[d].long().expect("a program has been loaded").suspends > 0 {
            self.reloaded(agenda, now, d);
        } else if self.dies[d].long().is_some_and(|op| op.two_bit.is_some_and(|how| how.bit().is_some()))
            || self.may_draw(agenda, now, d, Next::Pulses)
        {
            self.pulses_from(agenda, now, d, now);
        }
    }

    /// The program on the die waits for the bus to load a page, and for `command` cycles before it.
    pub(super) fn want_load(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, command: Duration) {
        let usage = self.load_use(d);
        let block = self.long_block(d);
        self.dies[d].go(now, State::LoadWait, usage, block);
        self.want_bus(agenda, now, d, Transfer::Data, command + self.timing.page_load);
    }

    /// Pulses start or go on at `start`; what waits by then and may preempt asks for a stop.
    pub(super) fn pulses_from(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, start: SimTime) {
        let op = self.dies[d].long().expect("a long operation pulses");
        let (kind, resumed, may_stop) = (op.kind, op.suspends > 0, op.may_stop);
        let mut ramp = Duration::ZERO;
        if resumed {
            let policy = self.suspend_policy(kind);
            let ramps = policy.resume_ramp > Duration::ZERO && !policy.scheme.resumes_free();
            if ramps && self.dies[d].resumes_inside_pulse() {
                ramp = policy.resume_ramp;
            }
            let suspended = now.since(self.dies[d].halted()).as_ns();
            match kind {
                LongKind::Erase => self.counters.erase_suspended_time += suspended,
                _ => self.counters.program_suspended_time += suspended,
            }
        }
        let end = self.dies[d].start_pulses(now, start, ramp);
        self.in_hand[d].stop_asked = false;
        agenda.arm(self.timer(d), end);
        if may_stop && self.is_preempted(d) {
            self.ask_to_stop(agenda, now, d);
        }
    }

    pub(super) fn finished(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.count_pulses(now, d);
        self.release_power(d);
        let op = self.dies[d].finish_long(now);
        let hand = &mut self.in_hand[d];
        let mut txn = self.txns.remove(hand.long);
        (hand.long, hand.beneath) = (hand.beneath, NONE);
        let owed = op.train.total().as_ns();
        let loops = u64::from(op.train.loops);
        let phases = [op.train.pulse * loops, op.train.reset * loops, op.train.verify * loops];
        self.supply.tally.book_phases(op.kind, phases);
        match op.kind {
            LongKind::HostProgram => {
                self.counters.host_programs += 1;
                self.account_program(now, d, &mut txn);
            }
            LongKind::GcProgram => self.counters.gc_programs += 1,
            LongKind::Erase => self.counters.erases += 1,
        }
        self.operations.record(&op, now);
        if let Some(reliability) = &mut self.reliability
            && txn.block != NO_BLOCK
        {
            reliability.finished(&txn, now);
        }
        if op.kind == LongKind::Erase {
            self.counters.erase_owed_time += owed;
            self.outcomes.push(Outcome::Erase(txn));
        } else {
            self.counters.program_owed_time += owed;
            self.outcomes.push(Outcome::Program(txn));
        }
        self.next_on(agenda, now, d);
    }

    /// What loading the page buffer is to those who wait: part of the program, or of its resume.
    #[inline]
    pub(super) fn load_use(&self, d: usize) -> Use {
        match self.dies[d].long().expect("a program is being loaded") {
            op if op.suspends > 0 => Use::Suspended,
            op if op.kind == LongKind::HostProgram => Use::BusProgram,
            _ => Use::BusGc,
        }
    }

    #[inline]
    pub(super) fn long_block(&self, d: usize) -> u32 {
        self.dies[d].long().and_then(|op| op.block).unwrap_or(NO_BLOCK)
    }

    /// The account of a completed program of host data: what it waited for before it started and while it was
    /// stopped. From its start on, time spent on programs of host data is its own.
    pub(super) fn account_program(&mut self, now: SimTime, d: usize, txn: &mut Txn) {
        let usage = &mut self.dies[d].usage;
        usage.settle(now);
        for (wait, cause) in txn.waits.iter_mut().zip(usage.causes()) {
            *wait = cause - *wait;
        }
        txn.own = usage.causes()[Wait::Programs as usize] - txn.own;
        txn.waits[Wait::Programs as usize] -= txn.own;
    }
}
