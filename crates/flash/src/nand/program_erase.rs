//! Programs and erases on a die: loading the page buffer, pulses, the end.

use super::Nand;
use super::channel::Transfer;
use super::power::budget::Next;
use super::trains::{block_key, slowest, word_line_key};
use super::txn::Txn;
use crate::cell_mode::CellMode;
use crate::command::{Busy, Class, DieActivity, Effect, Step, Wait};
use crate::die::{LongOp, Occupancy, State};
use crate::geometry::Pages;
use crate::ids::{BlockId, TxnId, WordLineId};
use crate::pulse::PulseTrain;
use crate::reprogram::Bit;
use crate::suspend::SuspendScheme;
use crate::suspend::eligibility::Candidate;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// The die starts a program or an erase.
    pub(super) fn start_long(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = &{ *self.txns.get(id) };
        let command = txn.kind.command();
        if command.train.is_none() {
            self.start_without_pulses(events, now, d, id, txn);
            return;
        }
        let block = (txn.block != BlockId::NONE).then_some(txn.block);
        let (mut train, page_types) = self.train_of(d, txn);
        let joins = !self.joined.is_empty();
        if joins {
            self.gather_programs(now, d, id);
        }
        let gathers = command.effect == Effect::Erases && !self.erased_with.is_empty();
        if gathers {
            self.gather_erases(now, d, id);
        }
        let nested = self.dies[d].long().is_some();
        let number = self.policies.number(command.effect);
        let policy = self.policies.get(number);
        let candidate = || {
            let cycles = if block.is_some() { self.most_worn(d, txn) } else { txn.cycles() };
            Candidate { die: txn.die, cycles, planes: txn.planes.into(), page_types }
        };
        let may_stop = policy.can_suspend() && (!nested || self.config.nesting);
        let may_stop = if joins || gathers {
            let mut candidate = candidate();
            if gathers {
                self.with_gathered(d, &mut train, &mut candidate);
            } else {
                self.with_joined(d, &mut train, &mut candidate);
            }
            may_stop && policy.eligible.admits(&candidate)
        } else {
            may_stop && policy.eligible.admits(&candidate())
        };
        let sliced = may_stop && policy.scheme.slices().is_some();
        let die = &mut self.dies[d];
        die.begin_long(now, txn.kind, train, block, txn.planes());
        die.set_may_stop(may_stop, number);
        if sliced {
            die.set_sliced();
        }
        let active = &mut self.contexts[d].active;
        if nested {
            self.counters.programs_in_suspension += 1;
            active.beneath = active.long;
        }
        (active.long, active.count, active.powered) = (id, 0, false);
        active.steps = if txn.is_special() { txn.special_steps() } else { command.steps };
        if gathers {
            self.put_gathered(now, d);
        }
        if command.effect == Effect::Programs {
            self.check_program(now, d, txn, block);
            if joins {
                self.contexts[d].active.loads += self.put_joined(now, d);
            }
            if self.has_registers() && self.adopt_loaded_pages(events, now, d, id) {
                return;
            }
        }
        self.next_step(events, now, d);
    }

    /// The train of an operation, and the types of the pages it programs.
    #[inline(always)]
    pub(super) fn train_of(&self, d: usize, txn: &Txn) -> (PulseTrain, u32) {
        let command = txn.kind.command();
        if command.effect == Effect::Erases {
            let worn =
                |plane| if txn.block == BlockId::NONE { txn.cycles() } else { self.worn(d, txn, plane) };
            let of = |plane| self.trains.erase(block_key(txn, plane), worn(plane));
            let train = slowest(txn, of);
            return (if txn.is_of_whole_block() { self.of_whole_block(d, txn, train) } else { train }, 0);
        }
        let key = |plane| word_line_key(txn, plane, &self.geometry);
        let (mode, reprograms) = (txn.cell_mode(), txn.reprograms());
        let pages = self.geometry.pages_per_program(mode);
        let first = if pages == 1 { txn.page % self.geometry.pages_per_word_line } else { 0 };
        if txn.is_first_step() {
            let types = (1 << self.pages_of_step(txn).expect("a step of two")) - 1;
            return (slowest(txn, |plane| self.trains.first_step(key(plane))), types);
        }
        let types = reprograms.map_or(((1 << pages) - 1) << first, |bit| 1 << bit as u32);
        let train = match mode {
            CellMode::Native if !self.trains.vary() => self.trains.program(0),
            CellMode::Native => slowest(txn, |plane| self.trains.program(key(plane))),
            _ => slowest(txn, |plane| mode.train(&self.trains, reprograms.is_some(), key(plane))),
        };
        (train, types)
    }

    /// Checks what the program on the die is going to write, and sets how many pages have to be loaded for it.
    fn check_program(&mut self, now: SimTime, d: usize, txn: &Txn, block: Option<BlockId>) {
        if txn.is_special() {
            self.contexts[d].active.loads = self.check_special(now, d, txn, block);
            return;
        }
        let pages = self.check_pages(now, d, txn, block);
        self.contexts[d].active.loads = txn.planes().count * pages;
    }

    /// Checks the pages that the program on the die writes; returns their number on each plane.
    #[inline]
    fn check_pages(&mut self, now: SimTime, d: usize, txn: &Txn, block: Option<BlockId>) -> u32 {
        let (planes, mode) = (txn.planes(), txn.cell_mode());
        let count = self.geometry.pages_per_program(mode);
        if let Some(block) = block {
            let pages = Pages { first: txn.page, count };
            self.dies[d].check_program(now, planes, block, pages, mode);
        }
        self.counters.mlc_programs += u64::from(mode == CellMode::Mlc);
        count
    }

    /// As [`Nand::check_program`] for programs that are not of a whole word line in one step; returns the page loads.
    #[cold]
    #[inline(never)]
    fn check_special(&mut self, now: SimTime, d: usize, txn: &Txn, block: Option<BlockId>) -> u32 {
        let planes = txn.planes().count;
        if let Some(bit) = txn.reprograms() {
            return planes * self.check_reprogram(now, d, txn, bit);
        }
        if txn.is_second_step() {
            self.check_second_step(now, d, txn);
        } else {
            let pages = self.check_pages(now, d, txn, block);
            if txn.is_copyback() {
                // The pages of all planes are sensed together.
                self.counters.copybacks += 1;
                return pages;
            }
        }
        planes * self.pages_of_step(txn).expect("a step of two")
    }

    /// As [`Nand::check_program`] for a reprogram: pages to load on each plane.
    #[inline(never)]
    fn check_reprogram(&mut self, now: SimTime, d: usize, txn: &Txn, bit: Bit) -> u32 {
        let word_line = WordLineId::of_page(txn.page, self.geometry.pages_per_word_line);
        self.dies[d].check_reprogram(now, word_line, self.config.super_layer, bit, txn.validity());
        self.counters.reprograms += 1;
        1
    }

    /// Starts the next step of the operation on the die once the power budget allows. A grant before the first step that draws
    /// current lasts to the end of the pulses; page loads need none.
    #[inline(always)]
    pub(super) fn next_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if !self.observed || self.may_step(events, now, d) {
            self.take_step(events, now, d, now);
        }
    }

    #[cold]
    fn may_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize) -> bool {
        let active = &mut self.contexts[d].active;
        let asks = !active.powered && !matches!(active.steps, [] | [Step::Load, ..]);
        active.powered |= asks;
        !asks || self.may_draw(events, now, d, Next::Step)
    }

    /// The next step of the operation on the die begins at `start`, when its command has ended.
    #[inline(always)]
    pub(super) fn take_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize, start: SimTime) {
        let active = &mut self.contexts[d].active;
        let Some((step, rest)) = active.steps.split_first() else {
            self.ended(events, now, d);
            return;
        };
        active.steps = rest;
        match step {
            Step::Pulses => self.pulses_from(events, now, d, start),
            Step::Load if self.geometry.separate_commands => self.command_of_load(events, now, d),
            Step::Load => self.request_load(events, now, d, self.command_time(d)),
            Step::Command => self.command_step_of_long(events, now, d),
            Step::SenseSource => self.sense_sources(events, d, start),
            Step::Busy(busy) => {
                let command = self.dies[d].long().expect("an operation is on the die").kind.command();
                let usage = if busy.array { command.array } else { self.load_use(d) };
                self.be_busy(events, now, d, busy, usage, self.long_block(d), start);
            }
            Step::Sense | Step::Out => panic!("the table of commands admits {step:?} in reads alone"),
        }
    }

    #[inline(never)]
    fn command_step_of_long(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let (usage, block) = (self.load_use(d), self.long_block(d));
        self.dies[d].go(now, State::Command, usage, block);
        self.request_bus(events, now, d, Transfer::Command, self.command_time(d));
    }

    /// The program on die `d` requests the bus for commands; its first load follows.
    #[cold]
    #[inline(never)]
    fn command_of_load(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let (usage, block, length) = (self.load_use(d), self.long_block(d), self.command_time(d));
        self.dies[d].go(now, State::LoadWait, usage, block);
        self.contexts[d].active.commands = true;
        self.request_bus(events, now, d, Transfer::Command, length);
    }

    /// The command of the program on die `d` has ended on its own bus.
    #[cold]
    #[inline(never)]
    pub(super) fn commanded(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.contexts[d].active.commands = false;
        self.request_bus(events, now, d, Transfer::Data, self.timing.page_load);
    }

    /// Die `d` is busy for a time of its command's own, from `start` on.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn be_busy(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        busy: &Busy,
        usage: DieActivity,
        block: BlockId,
        start: SimTime,
    ) {
        self.dies[d].go(now, State::Busy, usage, block);
        events.arm(self.timer(d), start + (busy.time)(&self.timing));
    }

    /// The time for which a step had the die is over.
    #[inline(never)]
    pub(super) fn busy_over(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.contexts[d].active.steps_read {
            self.next_read_step(events, now, d, now);
        } else if self.dies[d].long().is_some_and(|op| op.suspends > 0) {
            self.sources_sensed_again(events, now, d);
        } else {
            self.next_step(events, now, d);
        }
    }

    /// The last step is over and had no pulses.
    #[cold]
    #[inline(never)]
    fn ended(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.dies[d].long().expect("an operation is on the die").effect == Effect::Nothing {
            self.finished_without_pulses(events, now, d);
        } else {
            self.finished(events, now, d);
        }
    }

    /// Command and address cycles of the operation on the die.
    #[inline]
    pub(super) fn command_time(&self, d: usize) -> Duration {
        let planes = self.dies[d].long().expect("an operation is on the die").width;
        self.timing.command * u64::from(planes * self.blocks_erased(d))
    }

    /// Program/erase cycles of the operation's block on one plane, those that suspensions have added included.
    pub(super) fn worn(&self, d: usize, txn: &Txn, plane: u32) -> u32 {
        txn.cycles().saturating_add(self.dies[d].blocks().stress_cycles(plane, txn.block))
    }

    pub(super) fn most_worn(&self, d: usize, txn: &Txn) -> u32 {
        let worn = txn.planes().each().map(|plane| self.worn(d, txn, plane));
        worn.max().expect("an operation addresses a plane")
    }

    pub(super) fn loaded(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.book_load(d);
        self.contexts[d].active.reported = false;
        self.contexts[d].active.loads -= 1;
        if self.contexts[d].active.loads > 0 {
            self.request_load(events, now, d, Duration::ZERO);
            return;
        }
        if self.dies[d].long().expect("a program has been loaded").suspends > 0 {
            self.reloaded(events, now, d);
        } else {
            self.next_step(events, now, d);
        }
    }

    /// The program on the die waits for the bus to load a page, and for `command` cycles before it.
    pub(super) fn request_load(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        command: Duration,
    ) {
        let usage = self.load_use(d);
        let block = self.long_block(d);
        let length = command + self.timing.page_load;
        if self.takes_bus(now, d, Transfer::Data, length) {
            self.dies[d].pass(
                now,
                Occupancy { state: State::LoadWait, usage },
                Occupancy { state: State::Load, usage },
                block,
            );
            self.loads(events, d, usage, length, now + length);
        } else {
            self.dies[d].go(now, State::LoadWait, usage, block);
            self.wait_for_bus(events, d, Transfer::Data, length);
        }
    }

    /// A page moves for `length`, up to `end`, into the page buffer of die `d`.
    #[inline(always)]
    pub(super) fn loads(
        &mut self,
        events: &mut EventQueue,
        d: usize,
        usage: DieActivity,
        length: Duration,
        end: SimTime,
    ) {
        if usage == DieActivity::Suspended {
            self.counters.reload_bus_time += length.as_ns();
        }
        events.arm(self.timer(d), end + self.timing.buffer_setup);
    }

    /// Pulses start or continue at `start`; waiting transactions that may preempt request a stop.
    pub(super) fn pulses_from(&mut self, events: &mut EventQueue, now: SimTime, d: usize, start: SimTime) {
        let op = self.dies[d].long().expect("a long operation pulses");
        if op.sliced {
            self.slice_from(events, now, d, start);
            return;
        }
        let (effect, resumed, may_stop) = (op.effect, op.suspends > 0, op.may_stop);
        let mut ramp = Duration::ZERO;
        if resumed {
            let policy = self.suspend_policy(self.dies[d].long().expect("a long operation pulses"));
            let ramps = policy.resume_ramp > Duration::ZERO && !policy.scheme.has_free_resume();
            if ramps && self.dies[d].resumes_inside_pulse() {
                ramp = policy.resume_ramp;
            }
            if policy.compensation.is_used() {
                self.compensate(now, d);
            }
            let suspended = now.since(self.dies[d].halted()).as_ns();
            *self.counters.trains(effect).suspended += suspended;
        }
        let end = self.dies[d].start_pulses(now, start, ramp);
        self.contexts[d].active.stop_requested = false;
        events.arm(self.timer(d), end);
        if may_stop && self.is_preempted(d) {
            self.request_stop(events, now, d);
        }
        if self.has_registers() {
            self.load_ahead(events, now, d);
        }
    }

    /// The program on die `d` resumes with a voltage that the suspended time decides.
    #[cold]
    #[inline(never)]
    pub(super) fn compensate(&mut self, now: SimTime, d: usize) {
        let op = self.dies[d].long().expect("a program resumes");
        let by = self.suspend_policy(op).compensation;
        self.counters.compensated_loops += u64::from(self.dies[d].compensate(now, by));
    }

    /// The last step of the operation on the die has ended, or a slice of its pulses.
    pub(super) fn finished(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.dies[d].long().is_some_and(LongOp::ends_with_slice) {
            self.next_slice(events, now, d);
            return;
        }
        self.release_power(d);
        let active = &mut self.contexts[d].active;
        let id = active.long;
        (active.long, active.beneath) = (active.beneath, TxnId::NONE);
        let die = &mut self.dies[d];
        let op = die.long().expect("only a long operation finishes");
        let owed = op.train.total().as_ns();
        self.supply.tally.book_phases(op.kind, op.train.split(op.train.total()));
        *op.kind.count(&mut self.counters) += 1;
        let (command, effect) = (op.kind.command(), op.effect);
        *self.counters.trains(op.effect).owed += owed;
        self.operations.record(op, now);
        die.finish_long(now);
        if command.class == Class::HostWrite {
            self.account_program(now, d, id);
        }
        if command.effect == Effect::Erases && self.geometry.sub_blocks > 1 {
            self.erase_ends_beside(d, id);
        }
        let txn = self.txns.get(id);
        if let Some(reliability) = &mut self.reliability
            && txn.block != BlockId::NONE
        {
            reliability.finished(txn, now);
        }
        if !self.joined.is_empty() {
            self.joined_finished(now, d);
        }
        if effect == Effect::Erases && !self.erased_with.is_empty() {
            self.gathered_finished(now, d);
        }
        if effect == Effect::Programs && self.txns.get(id).is_second_step() {
            self.second_step_ended(events, now, d, id);
            return;
        }
        self.ends(now, id);
        self.next_on(events, now, d);
    }

    /// Activity of the die while the operation on it uses the bus.
    #[inline]
    pub(super) fn load_use(&self, d: usize) -> DieActivity {
        match self.dies[d].long().expect("an operation is on the die") {
            op if op.suspends > 0 => DieActivity::Suspended,
            op => op.kind.command().bus,
        }
    }

    #[inline]
    pub(super) fn long_block(&self, d: usize) -> BlockId {
        self.dies[d].long().and_then(|op| op.block).unwrap_or(BlockId::NONE)
    }

    /// Account of a completed host program: its waits before the start and while suspended. From the start on, time of host
    /// programs is its own.
    pub(super) fn account_program(&mut self, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get_mut(id);
        let usage = &mut self.dies[d].usage;
        usage.read_since(now, &mut txn.waits);
        txn.own = usage.causes()[Wait::Programs as usize] - txn.own;
        txn.waits[Wait::Programs as usize] -= txn.own;
    }
}
