//! Die: state machine of one flash die, with the operation on it and the one suspended beneath.
//!
//! The die carries out programs, erases and their suspension and checks every change of state, in release builds too. An
//! illegal change panics with the die's history: it is a bug of the layer above, never a result. Times, queues and the bus
//! belong to the array.

pub mod blocks;
mod compensation;
pub mod history;
pub(crate) mod hold_up;
mod joined;
mod multi_block;
mod operation;
pub mod outage;
mod reprogram;
mod slices;
mod state;
pub mod usage;

use crate::cell_mode::CellMode;
use crate::command::{DieActivity, Effect, Kind};
use crate::geometry::{Pages, Planes};
use crate::ids::BlockId;
use crate::pulse::PulseTrain;
use crate::suspend::{LongOpStatus, Stop, Suspended};
use blocks::Blocks;
use history::{Change, History};
use interpulse_engine::{Duration, SimTime};
use operation::Joined;
use state::LEGAL;
use usage::{Usage, slot_of};

pub use operation::{LongOp, Pulses, TrainTime};
pub use state::{DiePhase, STATES, State};

const NO_STOP: Stop =
    Stop { after: Duration::ZERO, keeps: Duration::ZERO, entry: Duration::ZERO, resume: Duration::ZERO };

/// State and activity of a die.
#[derive(Clone, Copy)]
pub struct Occupancy {
    /// The state.
    pub state: State,
    /// Activity.
    pub usage: DieActivity,
}

/// One die.
#[derive(Clone)]
pub struct Die {
    state: State,
    long: Option<LongOp>,
    /// The erase that is suspended beneath the program `long`.
    beneath: Option<LongOp>,
    /// Programs that pulse together with `long`.
    joined: Vec<Joined>,
    /// Blocks erased in one operation with that of the erase on the die.
    erased_with: Vec<BlockId>,
    /// Cumulative time by activity and waiting cause.
    pub usage: Usage,
    blocks: Blocks,
    pages_per_block: u32,
    pages_per_word_line: u32,
    history: History,
}

impl Die {
    /// An idle die with all blocks erased.
    pub fn new(planes: u32, blocks_per_plane: u32, pages_per_block: u32, pages_per_word_line: u32) -> Die {
        assert!(
            pages_per_block <= u32::from(u16::MAX),
            "{pages_per_block} pages do not fit the count of a block"
        );
        Die {
            state: State::Idle,
            long: None,
            beneath: None,
            joined: Vec::new(),
            erased_with: Vec::new(),
            usage: Usage::default(),
            blocks: Blocks::new(planes, blocks_per_plane, pages_per_block),
            pages_per_block,
            pages_per_word_line,
            history: History::default(),
        }
    }

    /// State of the die.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// The last changes of the state.
    #[inline]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// When the present state began.
    pub fn since(&self) -> SimTime {
        self.history.last().at
    }

    /// How long entering the suspension of the operation on the die lasts, a discharge included.
    #[inline]
    pub fn entry(&self) -> Duration {
        self.long.as_ref().expect("an operation is suspended").stop.entry
    }

    /// The pulses on the die.
    pub fn pulses(&self) -> Pulses {
        let op = self.long.as_ref().expect("only a long operation pulses");
        let ramped = SimTime(op.origin.as_ns().wrapping_add(op.kept.as_ns()));
        Pulses { kind: op.kind, train: op.train, from: op.began, ramped, progress: op.kept }
    }

    /// The program or erase on the die, running or suspended; of two, the program.
    #[inline]
    pub fn long(&self) -> Option<&LongOp> {
        self.long.as_ref()
    }

    /// The erase that is suspended beneath a program.
    #[inline]
    pub fn beneath(&self) -> Option<&LongOp> {
        self.beneath.as_ref()
    }

    /// Whether the die holds the data of this page in its page buffer, because it is being programmed.
    #[inline]
    pub fn buffers(&self, plane: u32, block: BlockId, page: u32) -> bool {
        self.long.as_ref().is_some_and(|op| {
            op.writes(plane, block, page)
                || self.joined.iter().any(|joined| joined.alone(op).writes(plane, block, page))
        })
    }

    /// Content of the blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Wears a block by a part of a program/erase cycle, in millionths.
    pub(crate) fn add_stress(&mut self, plane: u32, block: BlockId, ppm: u32) {
        self.blocks.add_stress(plane, block, ppm);
    }

    /// Content of the blocks, to be set by preconditioning only.
    pub fn blocks_mut(&mut self) -> &mut Blocks {
        assert!(self.state == State::Idle, "a block's content is set from outside on an idle die only");
        &mut self.blocks
    }

    /// Changes the state; panics with the history if that is illegal.
    #[inline]
    pub fn go(&mut self, now: SimTime, to: State, usage: DieActivity, block: BlockId) {
        if LEGAL[self.state as usize] & 1 << to as u32 == 0 {
            self.cannot_follow(now, to);
        }
        self.change(now, to, usage, block);
    }

    #[cold]
    #[inline(never)]
    fn cannot_follow(&self, now: SimTime, to: State) -> ! {
        self.illegal(now, &format!("{:?} cannot follow {:?}", to, self.state));
    }

    /// Changes the state to `via` and at once to `to`, as two calls of [`Die::go`] would.
    #[inline(always)]
    pub fn pass(&mut self, now: SimTime, via: Occupancy, to: Occupancy, block: BlockId) {
        if LEGAL[self.state as usize] & 1 << via.state as u32 == 0 {
            self.cannot_follow(now, via.state);
        }
        if LEGAL[via.state as usize] & 1 << to.state as u32 == 0 {
            self.state = via.state;
            self.cannot_follow(now, to.state);
        }
        self.history.note(Change { at: now, block, slot: slot_of(via.state, via.usage) });
        self.change(now, to.state, to.usage, block);
    }

    /// Changes the state; [`Die::pass`] only records its first.
    #[inline(always)]
    fn change(&mut self, now: SimTime, to: State, usage: DieActivity, block: BlockId) {
        let slot = slot_of(to, usage);
        self.usage.switch(now, slot);
        self.history.note(Change { at: now, block, slot });
        self.state = to;
    }

    /// Checks that a page may be read now: it is programmed, in the page buffer, or of no block ([`BlockId::NONE`]).
    #[inline(always)]
    pub fn check_read(&mut self, now: SimTime, plane: u32, block: BlockId, page: u32) {
        if !self.blocks.is_programmed(plane, block, page) && !self.buffers(plane, block, page) {
            self.reads_erased(now, plane, block, page);
        }
        // An erase can only be beneath another operation.
        if self.long.is_some() && self.erases(plane, block) {
            self.reads_what_is_erased(now, block);
        }
    }

    /// Whether an operation on the die, running or suspended, erases this block.
    fn erases(&self, plane: u32, block: BlockId) -> bool {
        let here = |op: &LongOp| op.block == Some(block) || self.erased_with.contains(&block);
        let erased = |op: &LongOp| op.erases() && op.spans(plane) && here(op);
        [&self.long, &self.beneath].into_iter().flatten().any(erased)
    }

    #[cold]
    #[inline(never)]
    fn reads_erased(&mut self, now: SimTime, plane: u32, block: BlockId, page: u32) {
        if block == BlockId::NONE {
            return;
        }
        self.blocks.check_address(block);
        self.commanded(now, block);
        self.illegal(now, &format!("read of page {page} of block {block}, plane {plane}, which is erased"));
    }

    #[cold]
    #[inline(never)]
    fn reads_what_is_erased(&mut self, now: SimTime, block: BlockId) -> ! {
        self.commanded(now, block);
        self.illegal(now, &format!("read of block {block}, whose erase is suspended"));
    }

    /// Records the command of a refused read, which is checked before the state changes.
    fn commanded(&mut self, now: SimTime, block: BlockId) {
        if self.state != State::Command {
            self.history.note(Change { at: now, block, slot: slot_of(State::Command, DieActivity::BusHost) });
        }
    }

    /// Puts a program or erase on the die; its pulses have not started. A program may be put on a die whose erase
    /// is suspended.
    pub fn begin_long(
        &mut self,
        now: SimTime,
        kind: Kind,
        train: PulseTrain,
        block: Option<BlockId>,
        planes: Planes,
    ) {
        if let Some(other) = self.long.take() {
            let nests = other.erases() && kind.command().effect != Effect::Erases;
            if !nests || self.beneath.is_some() || self.state != State::Suspended {
                self.long = Some(other);
                self.illegal(now, &format!("{kind:?} while another operation is on the die"));
            }
            self.beneath = Some(other);
        }
        self.long = Some(LongOp {
            kind,
            effect: kind.command().effect,
            train,
            origin: now,
            commanded: now,
            began: now,
            kept: Duration::ZERO,
            until: train.total(),
            resumed: now,
            suspends: 0,
            first_suspend: now,
            halted: now,
            suspended: Duration::ZERO,
            fallen: 0.0,
            started: now,
            may_stop: false,
            sliced: false,
            between_slices: false,
            policy: 0,
            batch_end: 0,
            stop: NO_STOP,
            block,
            planes,
            width: planes.count,
            pages: Pages::NONE,
            mode: CellMode::Native,
            reprograms: None,
        });
    }

    /// Allows the operation on the die to be suspended, or not, under the suspension policy of this number.
    #[inline]
    pub fn set_may_stop(&mut self, may: bool, policy: u32) {
        let op = self.long.as_mut().expect("an operation is on the die");
        (op.may_stop, op.policy) = (may, policy);
    }

    /// Checks that the program on the die may write these pages of its block in `mode`; they count as programmed when it
    /// is complete.
    pub fn check_program(
        &mut self,
        now: SimTime,
        planes: Planes,
        block: BlockId,
        pages: Pages,
        mode: CellMode,
    ) {
        self.check_pages(now, planes, block, pages, mode);
        let op = self.long.as_mut().expect("pages are written by a program");
        (op.pages, op.mode) = (pages, mode);
    }

    /// Checks that the program on the die may be the second step of a word line: `least` pages of its block have been programmed.
    pub(crate) fn check_second_step(&mut self, now: SimTime, planes: Planes, block: BlockId, least: u32) {
        let mut programmed = 0;
        for plane in planes.each() {
            programmed = u32::from(self.blocks.programmed(plane, block));
            if programmed < least {
                let what =
                    format!("second step of block {block}, plane {plane}: {programmed} of {least} pages");
                self.illegal(now, &what);
            }
        }
        // It leaves as many pages programmed as there are.
        let op = self.long.as_mut().expect("a second step is a program");
        op.pages = Pages { first: programmed, count: 0 };
    }

    #[inline]
    fn check_pages(&self, now: SimTime, planes: Planes, block: BlockId, pages: Pages, mode: CellMode) {
        let first = pages.first;
        if pages.end() > self.pages_per_block {
            let (last, end) = (pages.end() - 1, self.pages_per_block);
            self.illegal(now, &format!("program up to page {last} of block {block}, which has {end} pages"));
        }
        if mode != CellMode::Native || !self.blocks.are_native() {
            planes.each().for_each(|plane| self.check_mode(now, plane, block, mode));
        }
        for plane in planes.each() {
            let programmed = u32::from(self.blocks.programmed(plane, block));
            if programmed != first {
                let what = format!(
                    "program of page {first} of block {block}, plane {plane}, whose next page is {programmed}"
                );
                self.illegal(now, &what);
            }
        }
    }

    /// Checks that a block is erased or programmed in `mode`.
    fn check_mode(&self, now: SimTime, plane: u32, block: BlockId, mode: CellMode) {
        let present = self.blocks.mode(plane, block);
        if present != mode && self.blocks.programmed(plane, block) > 0 {
            self.illegal(now, &format!("{mode:?} program of block {block}, which is in {present:?} mode"));
        }
    }

    /// Starts (or continues after a suspension) the pulses at `start`, which may lie just ahead of `now`. For the
    /// first `ramp` they make no progress. Returns when the train ends if nothing stops it.
    pub fn start_pulses(&mut self, now: SimTime, start: SimTime, ramp: Duration) -> SimTime {
        let op = self.long.as_mut().expect("pulses belong to a long operation");
        if op.suspends > 0 {
            op.suspended += now.since(op.halted);
        }
        op.commanded = now;
        (op.began, op.resumed) = (start, start);
        op.origin = SimTime((start + ramp).as_ns().wrapping_sub(op.kept.as_ns()));
        let end = start + ramp + (op.until - op.kept);
        let (usage, block) = (op.kind.command().array, op.block.unwrap_or(BlockId::NONE));
        self.go(now, State::Pulsing, usage, block);
        end
    }

    /// Progress of the pulsing train at `now`, and how long until it makes any if it does not yet.
    #[inline]
    pub fn progress(&self, now: SimTime) -> (Duration, Duration) {
        let op = self.long.as_ref().expect("progress of a long operation");
        // The origin can lie before time zero (wrapped) only while kept progress exceeds the clock.
        let elapsed = now.as_ns().wrapping_sub(op.origin.as_ns()) as i64;
        if elapsed < op.kept.as_ns() as i64 {
            (op.kept, Duration::from_ns((op.kept.as_ns() as i64 - elapsed) as u64))
        } else {
            (Duration::from_ns(elapsed as u64), Duration::ZERO)
        }
    }

    /// When the pulsing train ends if nothing stops it.
    #[inline]
    pub fn pulses_end(&self) -> SimTime {
        let op = self.long.as_ref().expect("only a long operation pulses");
        SimTime(op.origin.as_ns().wrapping_add(op.until.as_ns()))
    }

    /// The suspension request of the scheme is accepted: the train runs on for `stop.after`.
    /// Returns the instant of the halt. Panics if the scheme keeps progress that is not made, or stops a train
    /// that has ended by then.
    pub fn accept_stop(&mut self, now: SimTime, stop: Stop) -> SimTime {
        let (elapsed, ahead) = self.progress(now);
        let reached = elapsed + stop.after;
        let op = self.long.as_mut().expect("a stop concerns a long operation");
        let until = op.until;
        if stop.keeps > reached || reached >= until && (reached > until || !op.ends_with_slice()) {
            let Stop { after, keeps, .. } = stop;
            let what = format!("stop after {after} that keeps {keeps}, {elapsed} into pulses up to {until}");
            self.illegal(now, &what);
        }
        op.stop = stop;
        // A command still on the bus has to end; a ramp that makes no progress can be cut short.
        let halt = if stop.after == Duration::ZERO { now.max(op.began) } else { now + ahead + stop.after };
        if halt > now {
            let (usage, block) = (op.kind.train().stop, op.block.unwrap_or(BlockId::NONE));
            self.go(now, State::Stopping, usage, block);
        }
        halt
    }

    /// Halts the train and adds `stress_ppm` millionths of a program/erase cycle to its blocks. Transactions with a number below
    /// `batch_end` have been submitted by now. Returns the time of entering the suspension.
    pub fn halt(&mut self, now: SimTime, stress_ppm: u32, batch_end: u64) -> Duration {
        let op = self.long.as_mut().expect("only a long operation halts");
        op.batch_end = batch_end;
        op.kept = op.stop.keeps;
        if op.suspends == 0 {
            op.first_suspend = now;
        }
        op.halted = now;
        op.suspends += 1;
        if stress_ppm > 0
            && let Some(block) = op.block
        {
            for plane in op.planes.each() {
                self.blocks.add_stress(plane, block, stress_ppm);
            }
            for joined in &self.joined {
                joined
                    .planes
                    .each()
                    .for_each(|plane| self.blocks.add_stress(plane, joined.block, stress_ppm));
            }
            if op.erases() && !self.erased_with.is_empty() {
                let op = *op;
                self.stress_erased_with(&op, stress_ppm);
            }
        }
        let op = self.long.as_ref().expect("only a long operation halts");
        let (entry, block) = (op.stop.entry, op.block.unwrap_or(BlockId::NONE));
        let to = if entry > Duration::ZERO { State::Entering } else { State::Suspended };
        self.go(now, to, DieActivity::Suspended, block);
        entry
    }

    /// Cost of resuming the suspended operation.
    pub fn resume_cost(&self) -> Duration {
        self.long.as_ref().expect("only a suspended operation resumes").stop.resume
    }

    /// Whether the suspended operation resumes in the middle of a pulse.
    pub fn resumes_inside_pulse(&self) -> bool {
        let op = self.long.as_ref().expect("only a suspended operation resumes");
        op.train.is_inside_pulse(op.kept)
    }

    /// When the suspended operation was halted.
    #[inline]
    pub fn halted(&self) -> SimTime {
        self.long.as_ref().expect("only a long operation is suspended").halted
    }

    /// When the suspended operation's die could first be used for something else.
    #[inline]
    pub fn entered(&self) -> SimTime {
        let op = self.long.as_ref().expect("only a long operation is suspended");
        op.halted + op.stop.entry
    }

    /// As [`Die::suspension`], of the erase that is suspended beneath a program.
    #[inline]
    pub fn suspension_beneath(&self, now: SimTime) -> Option<Suspended> {
        let op = self.beneath.as_ref()?;
        Some(op.suspended_by(now))
    }

    /// Suspensions, instant of the first, and suspended time of the operation, which is suspended now.
    #[inline]
    pub fn suspension(&self, now: SimTime) -> Suspended {
        let op = self.long.as_ref().expect("only a long operation is suspended");
        op.suspended_by(now)
    }

    /// How long the train on the die has pulsed since it last began, if it halts or ends at `now`, and how much of
    /// that made progress.
    #[inline]
    pub fn pulsed(&self, now: SimTime) -> (Duration, Duration) {
        let op = self.long.as_ref().expect("only a long operation pulses");
        let (elapsed, _) = self.progress(now);
        (now.since(op.began), elapsed - op.kept)
    }

    /// How long the command of the pulses that were last put on the die takes, up to `now`.
    #[inline]
    pub fn command_time(&self, now: SimTime) -> Duration {
        let op = self.long.as_ref().expect("only a long operation pulses");
        op.began.min(now).since(op.commanded)
    }

    /// Of the pulses, voltage resets and verifies that the train has done, those that its halt at `now` throws away.
    #[inline]
    pub fn thrown_away(&self, now: SimTime) -> Option<[Duration; 3]> {
        let (elapsed, _) = self.progress(now);
        let op = self.long.as_ref().expect("only a long operation halts");
        let keeps = op.stop.keeps;
        (elapsed > keeps).then(|| {
            let (done, kept) = (op.train.split(elapsed), op.train.split(keeps));
            [done[0] - kept[0], done[1] - kept[1], done[2] - kept[2]]
        })
    }

    /// Work done up to `now` by the incomplete operations on the die, discarded work not counted.
    pub fn unfinished(&self, now: SimTime) -> impl Iterator<Item = (Kind, TrainTime)> {
        let pulses = matches!(self.state, State::Pulsing | State::Stopping);
        let running = self.long.as_ref().map(|op| {
            if !pulses {
                return (op.kind, TrainTime { phases: op.train.split(op.kept), ..TrainTime::default() });
            }
            let command = self.command_time(now);
            if now <= op.began {
                return (
                    op.kind,
                    TrainTime { command, phases: op.train.split(op.kept), ..TrainTime::default() },
                );
            }
            let (elapsed, _) = self.progress(now);
            let ramp = now.since(op.began) - (elapsed - op.kept);
            (op.kind, TrainTime { command, ramp, phases: op.train.split(elapsed) })
        });
        let of_kept =
            |op: &LongOp| (op.kind, TrainTime { phases: op.train.split(op.kept), ..TrainTime::default() });
        running.into_iter().chain(self.beneath.as_ref().map(of_kept))
    }

    /// Progress of the pulsing train at `now`, for the decision about a stop. A train that has been resumed without progress
    /// is committed to its next loop, or reads could starve it.
    #[inline]
    pub fn progress_at(&self, now: SimTime, oldest_write: Option<SimTime>) -> LongOpStatus<'_> {
        let (elapsed, _) = self.progress(now);
        let op = self.long.as_ref().expect("only a long operation progresses");
        LongOpStatus {
            train: &op.train,
            elapsed,
            committed: elapsed == op.kept && (op.suspends > 0 || op.sliced),
            planes: op.width,
            suspends: op.suspends,
            first_suspend: op.first_suspend,
            resumed: op.resumed,
            suspended: op.suspended,
            now,
            oldest_write,
        }
    }

    /// The long operation is complete, and no longer on the die. A program's pages count as programmed from now on, an
    /// erase's blocks are empty. An erase that was suspended beneath a program is the die's operation again.
    pub fn finish_long(&mut self, now: SimTime) {
        let op = self.long.as_ref().expect("only a long operation finishes");
        let (block, planes) = (op.block, op.planes);
        if !self.joined.is_empty() {
            let op = *op;
            self.finish_joined(&op);
        }
        let op = self.long.as_ref().expect("only a long operation finishes");
        if !self.erased_with.is_empty() && op.erases() {
            let op = *op;
            self.finish_erased_with(&op);
        }
        let op = self.long.as_ref().expect("only a long operation finishes");
        if op.mode != CellMode::Native {
            let op = *op;
            self.finish_in_mode(&op);
        } else if let Some(block) = block {
            // An erase has no pages, and leaves none programmed.
            let programmed = op.pages.end() as u16;
            for plane in planes.each() {
                self.blocks.set_programmed(plane, block, programmed);
            }
        }
        self.long = None;
        if self.beneath.is_some() {
            self.long = self.beneath.take();
        }
        let (to, usage) = if self.long.is_some() {
            (State::Suspended, DieActivity::Suspended)
        } else {
            (State::Idle, DieActivity::Idle)
        };
        self.go(now, to, usage, block.unwrap_or(BlockId::NONE));
    }

    #[cold]
    #[inline(never)]
    fn illegal(&self, now: SimTime, what: &str) -> ! {
        panic!("illegal die operation at {} ns: {what}\nhistory of the die:\n{}", now.as_ns(), self.history);
    }
}
