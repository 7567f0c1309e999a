//! The flash array of one drive: dies with their queues, channels, decoders, and the scheduling of
//! transactions onto them.
//!
//! The owner submits [`Txn`]s and forwards timer events; finished transactions appear in
//! [`Nand::outcomes`], which the owner drains. Nothing here calls up.

pub mod channel;
mod config;
mod counters;
pub mod ecc;
mod operations;
pub mod queue;
mod suspension;
mod trains;
pub mod txn;

use crate::die::usage::{Use, Wait};
use crate::die::{Die, LongKind, State};
use crate::geometry::{Geometry, Timing};
use crate::parts::PartSpec;
use crate::suspend::eligibility::Candidate;
use crate::variation::Trains;
use channel::{Channel, Transfer};
use ecc::Decoder;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime};
use queue::{Policy, Queue};
use trains::{block_key, slowest, word_line_key};
use txn::{Kind, NO_BLOCK, NONE, Slab, Txn};

pub use config::NandConfig;
pub use counters::NandCounters;
pub use operations::{OperationStats, OperationTimes};

/// Most planes a multi-plane read senses together.
const MAX_BATCH: usize = 8;

/// A transaction came to its end.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// The data of this read has been decoded.
    Read(Txn),
    /// This program is complete.
    Program(Txn),
    /// This erase is complete.
    Erase(Txn),
}

/// What a die has in hand besides its own state.
#[derive(Clone, Copy)]
struct InHand {
    /// Reads being sensed or moved together.
    reads: [u32; MAX_BATCH],
    count: u8,
    /// Reads whose data has moved.
    moved: u8,
    /// The program or erase on the die.
    long: u32,
    /// The erase that is suspended beneath a program.
    beneath: u32,
    /// Page loads still to do.
    loads: u32,
    /// A stop was asked for that is under way or refused; set so that it is asked for only once.
    stop_asked: bool,
    /// Reads of this suspension have used the page buffer.
    buffer_used: bool,
    /// When the loading of the page buffer for a resume began.
    reload_from: SimTime,
}

/// The flash array of one drive.
#[derive(Clone)]
pub struct Nand {
    geometry: Geometry,
    timing: Timing,
    trains: Trains,
    config: NandConfig,
    dies: Vec<Die>,
    queues: Vec<Queue>,
    in_hand: Vec<InHand>,
    channels: Vec<Channel>,
    decoders: Vec<Decoder>,
    txns: Slab,
    seq: u64,
    first: u32,
    /// Submission instant of the host write that has waited longest for the write cache.
    oldest_write: Option<SimTime>,
    /// Finished transactions, in order; drained by the owner.
    pub outcomes: Vec<Outcome>,
    /// What has been counted.
    pub counters: NandCounters,
    /// How the programs and erases completed in the measurement window went.
    pub operations: OperationStats,
}

impl Nand {
    /// An idle array whose resources take the agenda indices from `first` on: dies, then channels, then
    /// decoders; see [`Nand::resources`].
    pub fn new(
        geometry: Geometry,
        part: &PartSpec,
        config: NandConfig,
        seed: u64,
        first: ResourceId,
    ) -> Nand {
        let dies = geometry.dies() as usize;
        let idle = InHand {
            reads: [NONE; MAX_BATCH],
            count: 0,
            moved: 0,
            long: NONE,
            beneath: NONE,
            loads: 0,
            stop_asked: false,
            buffer_used: false,
            reload_from: SimTime::ZERO,
        };
        Nand {
            timing: Timing::new(part),
            trains: Trains::new(part, config.long_operations, seed),
            dies: vec![
                Die::new(geometry.planes, geometry.blocks_per_plane, geometry.pages_per_block());
                dies
            ],
            queues: vec![Queue::default(); dies],
            in_hand: vec![idle; dies],
            channels: vec![Channel::default(); geometry.channels as usize],
            decoders: vec![Decoder::new(config.ecc_latency, config.ecc_interval); geometry.channels as usize],
            txns: Slab::default(),
            seq: 0,
            first: first.0,
            oldest_write: None,
            outcomes: Vec::with_capacity(64),
            counters: NandCounters::default(),
            operations: OperationStats::default(),
            geometry,
            config,
        }
    }

    /// Agenda resources an array of this geometry needs.
    pub fn resources(geometry: &Geometry) -> u32 {
        geometry.dies() + 2 * geometry.channels
    }

    /// The array's geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The times of the part.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// The dies.
    pub fn dies(&self) -> &[Die] {
        &self.dies
    }

    /// The dies, for preconditioning.
    pub fn dies_mut(&mut self) -> &mut [Die] {
        &mut self.dies
    }

    /// The channels.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Transactions not yet finished.
    pub fn pending(&self) -> usize {
        self.txns.live()
    }

    /// Transactions waiting for a die (the running one is not among them).
    pub fn waiting_at(&self, die: u32) -> u32 {
        self.queues[die as usize].waiting()
    }

    /// Starts a new measurement window of [`Nand::operations`].
    pub fn reset_window(&mut self) {
        self.operations = OperationStats::default();
    }

    /// Puts garbage collection before host programs on a die, or not.
    #[inline]
    pub fn set_gc_urgent(&mut self, die: u32, urgent: bool) {
        self.queues[die as usize].gc_urgent = urgent;
    }

    /// Tells the array when the host write that has waited longest for the write cache was submitted; `None`
    /// when none waits. The owner keeps it current: a scheme may give starving writes the right of way.
    #[inline]
    pub fn set_oldest_write(&mut self, submitted: Option<SimTime>) {
        self.oldest_write = submitted;
    }

    /// Submission instant of the host write that has waited longest for the write cache.
    pub fn oldest_write(&self) -> Option<SimTime> {
        self.oldest_write
    }

    /// Submits a transaction; it is started at once if its die is free.
    #[inline]
    pub fn submit(&mut self, agenda: &mut Agenda, mut txn: Txn) {
        let now = agenda.now();
        let d = txn.die as usize;
        txn.seq = self.seq;
        self.seq += 1;
        txn.mark = now;
        let die = &mut self.dies[d];
        let state = die.state();
        if state == State::Idle {
            // An idle die has an empty queue: nothing to wait for.
            debug_assert!(self.queues[d].is_empty());
            txn.waits = [0; 8];
            let id = self.txns.insert(txn);
            self.start(agenda, now, d, id);
            return;
        }
        die.usage.settle(now);
        txn.waits = *die.usage.causes();
        let kind = txn.kind;
        let id = self.txns.insert(txn);
        self.queues[d].push(&mut self.txns, id);
        match state {
            State::Pulsing if self.may_preempt(d, kind) => self.ask_to_stop(agenda, now, d),
            // Suspended with nothing in hand: held by a timer.
            State::Suspended => self.next_on(agenda, now, d),
            _ => {}
        }
    }

    /// Handles the timer of resource `index` of the array (counted from its first).
    #[inline]
    pub fn on_timer(&mut self, agenda: &mut Agenda, index: u32) {
        let now = agenda.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        if index < dies {
            self.on_die(agenda, now, index as usize);
        } else if index < dies + channels {
            self.on_channel(agenda, now, (index - dies) as usize);
        } else {
            self.on_decoder(agenda, now, (index - dies - channels) as usize);
        }
    }

    // ---- dies ---------------------------------------------------------------------------------------

    #[inline]
    fn timer(&self, d: usize) -> ResourceId {
        ResourceId(self.first + d as u32)
    }

    fn on_die(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Sensing => self.sensed(agenda, now, d),
            State::Out => self.moved_out(agenda, now, d),
            State::Load => self.loaded(agenda, now, d),
            State::Pulsing => self.pulsed(agenda, now, d),
            State::Stopping => self.halted(agenda, now, d),
            State::Entering => {
                let block = self.long_block(d);
                self.dies[d].go(now, State::Suspended, Use::Suspended, block);
                self.next_on(agenda, now, d);
            }
            State::Suspended => self.next_on(agenda, now, d),
            State::Resuming => self.pulses_from(agenda, now, d, now),
            other => unreachable!("die {d} has no timer in state {other:?}"),
        }
    }

    /// The die has nothing in hand (or a suspended operation): takes the next transaction.
    fn next_on(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Idle => {
                if let Some(id) = self.queues[d].take(&self.txns, self.config.policy, self.config.gc_reads) {
                    self.account_wait(now, d, id);
                    self.start(agenda, now, d, id);
                }
            }
            State::Suspended => self.next_in_suspension(agenda, now, d),
            other => unreachable!("die {d} takes no transaction in state {other:?}"),
        }
    }

    /// Turns the reading of causes at submission into the account of the wait.
    fn account_wait(&mut self, now: SimTime, d: usize, id: u32) {
        let usage = &mut self.dies[d].usage;
        usage.settle(now);
        let txn = self.txns.get_mut(id);
        for (wait, cause) in txn.waits.iter_mut().zip(usage.causes()) {
            *wait = cause - *wait;
        }
        txn.mark = now;
    }

    fn start(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32) {
        let txn = *self.txns.get(id);
        match txn.kind {
            Kind::HostRead | Kind::GcRead => self.start_read(agenda, now, d, id, &txn),
            Kind::HostProgram | Kind::GcProgram => self.start_program(agenda, now, d, id, &txn),
            Kind::Erase => self.start_erase(agenda, now, d, id, &txn),
        }
    }

    fn start_read(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let hand = &mut self.in_hand[d];
        hand.reads[0] = id;
        (hand.count, hand.moved) = (1, 0);
        if self.config.multi_plane_reads && self.queues[d].first(txn.kind) != NONE {
            self.gather_planes(now, d, txn);
        }
        let usage = if txn.kind == Kind::HostRead { Use::BusHost } else { Use::BusGc };
        self.dies[d].go(now, State::Command, usage, txn.block);
        for k in 0..self.in_hand[d].count as usize {
            let t = self.txns.get(self.in_hand[d].reads[k]);
            self.dies[d].check_read(now, t.plane, t.block, t.page);
        }
        if self.dies[d].long().is_some() {
            self.counters.reads_in_suspension += u64::from(self.in_hand[d].count);
        }
        let command = self.timing.command * u64::from(self.in_hand[d].count);
        self.want_bus(agenda, now, d, Transfer::Command, command);
    }

    /// Adds waiting reads of the same kind on other planes to the read in hand. Under `fifo` they overtake
    /// nothing that was submitted earlier; in a suspension they are those that it serves.
    fn gather_planes(&mut self, now: SimTime, d: usize, first: &Txn) {
        let before_seq = if self.dies[d].long().is_some() {
            self.serves_before(d)
        } else if self.config.policy == Policy::Fifo {
            self.queues[d].oldest_but(&self.txns, first.kind)
        } else {
            u64::MAX
        };
        let mut taken: u64 = 1 << first.plane;
        let (mut before, mut id) = (NONE, self.queues[d].first(first.kind));
        while id != NONE && (self.in_hand[d].count as usize) < MAX_BATCH {
            let t = *self.txns.get(id);
            if t.seq >= before_seq {
                break;
            }
            if taken & 1 << t.plane == 0 {
                taken |= 1 << t.plane;
                self.queues[d].unlink(&mut self.txns, before, id);
                self.account_wait(now, d, id);
                let hand = &mut self.in_hand[d];
                hand.reads[hand.count as usize] = id;
                hand.count += 1;
                self.counters.multi_plane_reads += 1;
            } else {
                before = id;
            }
            id = t.next;
        }
    }

    fn start_program(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let kind = if txn.kind == Kind::HostProgram { LongKind::HostProgram } else { LongKind::GcProgram };
        let block = (txn.block != NO_BLOCK).then_some(txn.block);
        let pages = self.geometry.pages_per_program;
        let die = &mut self.dies[d];
        let train = slowest(txn, |plane| self.trains.program(word_line_key(txn, plane, &self.geometry)));
        let nested = die.long().is_some();
        die.begin_long(now, kind, train, block, (txn.plane, txn.planes));
        if nested {
            self.counters.programs_in_suspension += 1;
            self.in_hand[d].beneath = self.in_hand[d].long;
        }
        let pages_of_train =
            if pages == 1 { 1 << (txn.page % self.geometry.pages_per_word_line) } else { (1 << pages) - 1 };
        let candidate =
            Candidate { die: txn.die, cycles: txn.cycles, planes: txn.planes, page_types: pages_of_train };
        let policy = &self.config.program_suspend;
        die.set_may_stop(
            policy.is_on() && (!nested || self.config.nesting) && policy.eligible.admits(&candidate),
        );
        if let Some(block) = block {
            die.check_program(now, (txn.plane, txn.planes), block, txn.page, pages);
        }
        let hand = &mut self.in_hand[d];
        (hand.long, hand.loads) = (id, pages * txn.planes);
        self.want_load(agenda, now, d, self.timing.command * u64::from(txn.planes));
    }

    fn start_erase(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: u32, txn: &Txn) {
        let blocks = self.dies[d].blocks();
        let worn = |plane| txn.cycles.saturating_add(blocks.stress_cycles(plane, txn.block));
        let train = slowest(txn, |plane| self.trains.erase(block_key(txn, plane), worn(plane)));
        let most_worn = (txn.plane..txn.plane + txn.planes).map(worn).max();
        let cycles = most_worn.expect("an operation addresses a plane");
        let candidate = Candidate { die: txn.die, cycles, planes: txn.planes, page_types: 0 };
        let policy = &self.config.erase_suspend;
        let die = &mut self.dies[d];
        die.begin_long(now, LongKind::Erase, train, Some(txn.block), (txn.plane, txn.planes));
        die.set_may_stop(policy.is_on() && policy.eligible.admits(&candidate));
        die.go(now, State::Command, Use::Erase, txn.block);
        let hand = &mut self.in_hand[d];
        (hand.long, hand.count) = (id, 0);
        self.want_bus(agenda, now, d, Transfer::Command, self.timing.command * u64::from(txn.planes));
    }

    fn sensed(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let usage = self.bus_use(d);
        let block = self.read_block(d);
        self.dies[d].go(now, State::OutWait, usage, block);
        self.want_out(agenda, now, d);
    }

    fn want_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let hand = &self.in_hand[d];
        let units = self.txns.get(hand.reads[hand.moved as usize]).units;
        let length = self.timing.transfer_units[units as usize];
        self.want_bus(agenda, now, d, Transfer::Data, length);
    }

    fn moved_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let hand = &mut self.in_hand[d];
        let id = hand.reads[hand.moved as usize];
        hand.moved += 1;
        let more = hand.moved < hand.count;
        let txn = self.txns.get_mut(id);
        // Everything since the die took the read that was not sensing was bus.
        let spent = now.as_ns() - txn.mark.as_ns();
        txn.waits[Wait::Bus as usize] += spent - txn.waits[Wait::Sensing as usize];
        txn.mark = now;
        let units = txn.units;
        if txn.kind == Kind::HostRead {
            self.counters.host_reads += 1;
        } else {
            self.counters.gc_reads += 1;
        }
        let c = self.geometry.channel_of(d as u32) as usize;
        if let Some(at) = self.decoders[c].enter(now, id, units) {
            agenda.arm(self.decoder_timer(c), at);
        }
        if more {
            let (usage, block) = (self.bus_use(d), self.read_block(d));
            self.dies[d].go(now, State::OutWait, usage, block);
            self.want_out(agenda, now, d);
            return;
        }
        let block = self.read_block(d);
        if self.dies[d].long().is_some() {
            self.dies[d].go(now, State::Suspended, Use::Suspended, block);
        } else {
            self.dies[d].go(now, State::Idle, Use::Idle, block);
        }
        self.next_on(agenda, now, d);
    }

    fn loaded(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.in_hand[d].loads -= 1;
        if self.in_hand[d].loads > 0 {
            self.want_load(agenda, now, d, Duration::ZERO);
            return;
        }
        if self.dies[d].long().expect("a program has been loaded").suspends > 0 {
            self.reloaded(agenda, now, d);
        } else {
            self.pulses_from(agenda, now, d, now);
        }
    }

    /// The program on the die waits for the bus to load a page, and for `command` cycles before it.
    fn want_load(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, command: Duration) {
        let usage = self.load_use(d);
        let block = self.long_block(d);
        self.dies[d].go(now, State::LoadWait, usage, block);
        self.want_bus(agenda, now, d, Transfer::Data, command + self.timing.page_load);
    }

    /// Pulses start or go on at `start`; what waits by then and may preempt asks for a stop.
    fn pulses_from(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, start: SimTime) {
        let op = *self.dies[d].long().expect("a long operation pulses");
        let mut ramp = Duration::ZERO;
        if op.suspends > 0 {
            let policy = self.suspend_policy(op.kind);
            if policy.resume_ramp > Duration::ZERO && self.dies[d].resumes_inside_pulse() {
                ramp = policy.resume_ramp;
            }
            let suspended = now.since(self.dies[d].halted()).as_ns();
            match op.kind {
                LongKind::Erase => self.counters.erase_suspended_time += suspended,
                _ => self.counters.program_suspended_time += suspended,
            }
        }
        let end = self.dies[d].start_pulses(now, start, ramp);
        self.in_hand[d].stop_asked = false;
        agenda.arm(self.timer(d), end);
        if op.may_stop && self.is_preempted(d) {
            self.ask_to_stop(agenda, now, d);
        }
    }

    fn finished(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        self.count_pulses(now, d);
        let op = self.dies[d].finish_long(now);
        let hand = &mut self.in_hand[d];
        let txn = self.txns.remove(hand.long);
        (hand.long, hand.beneath) = (hand.beneath, NONE);
        let owed = op.train.total().as_ns();
        match op.kind {
            LongKind::HostProgram => self.counters.host_programs += 1,
            LongKind::GcProgram => self.counters.gc_programs += 1,
            LongKind::Erase => self.counters.erases += 1,
        }
        self.operations.record(&op, now);
        if op.kind == LongKind::Erase {
            self.counters.erase_owed_time += owed;
            self.outcomes.push(Outcome::Erase(txn));
        } else {
            self.counters.program_owed_time += owed;
            self.outcomes.push(Outcome::Program(txn));
        }
        self.next_on(agenda, now, d);
    }

    // ---- channels and decoders ----------------------------------------------------------------------

    fn want_bus(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, kind: Transfer, length: Duration) {
        let c = self.geometry.channel_of(d as u32) as usize;
        let wanted = !self.channels[c].is_unwanted();
        if self.channels[c].request(now, d as u32, kind, length) {
            self.granted(agenda, now, d, length);
        } else if !wanted {
            agenda.arm(self.channel_timer(c), self.channels[c].free_at());
        }
    }

    fn on_channel(&mut self, agenda: &mut Agenda, now: SimTime, c: usize) {
        let die = self.channels[c].grant(now).expect("a channel's timer is armed only while a die waits");
        let length = self.channels[c].free_at().since(now);
        if !self.channels[c].is_unwanted() {
            agenda.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.granted(agenda, now, die as usize, length);
    }

    /// The bus is taken for `length` by die `d`, which goes on.
    fn granted(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, length: Duration) {
        self.counters.bus_time += length.as_ns();
        let end = now + length;
        match self.dies[d].state() {
            State::Command if self.in_hand[d].count > 0 => {
                let (sense, usage, block) = self.sense_time(d);
                self.dies[d].go(now, State::Sensing, usage, block);
                agenda.arm(self.timer(d), end + sense);
            }
            State::Command => self.pulses_from(agenda, now, d, end),
            State::OutWait => {
                let (usage, block) = (self.bus_use(d), self.read_block(d));
                self.dies[d].go(now, State::Out, usage, block);
                agenda.arm(self.timer(d), end);
            }
            State::LoadWait => {
                let (usage, block) = (self.load_use(d), self.long_block(d));
                self.dies[d].go(now, State::Load, usage, block);
                if usage == Use::Suspended {
                    self.counters.reload_bus_time += length.as_ns();
                }
                agenda.arm(self.timer(d), end + self.timing.buffer_setup);
            }
            other => unreachable!("die {d} was granted the bus in state {other:?}"),
        }
    }

    fn on_decoder(&mut self, agenda: &mut Agenda, now: SimTime, c: usize) {
        let (id, next) = self.decoders[c].leave(now);
        if let Some(at) = next {
            agenda.arm(self.decoder_timer(c), at);
        }
        let txn = self.txns.remove(id);
        self.outcomes.push(Outcome::Read(txn));
    }

    #[inline]
    fn channel_timer(&self, c: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + c) as u32)
    }

    #[inline]
    fn decoder_timer(&self, c: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + self.channels.len() + c) as u32)
    }

    // ---- small readings -----------------------------------------------------------------------------

    /// The longest tR of the reads in hand; books it as their sensing. Pages in the page buffer need none.
    fn sense_time(&mut self, d: usize) -> (Duration, Use, u32) {
        let hand = self.in_hand[d];
        let suspended = self.dies[d].long().is_some();
        let mut longest = Duration::ZERO;
        for &id in &hand.reads[..hand.count as usize] {
            let txn = self.txns.get(id);
            if suspended && self.dies[d].buffers(txn.plane, txn.block, txn.page) {
                self.counters.page_buffer_reads += 1;
                continue;
            }
            self.in_hand[d].buffer_used = true;
            let page_type = txn.page % self.geometry.pages_per_word_line;
            longest = longest.max(self.timing.read[page_type as usize]);
        }
        for &id in &hand.reads[..hand.count as usize] {
            self.txns.get_mut(id).waits[Wait::Sensing as usize] += longest.as_ns();
        }
        let first = self.txns.get(hand.reads[0]);
        let usage = if first.kind == Kind::HostRead { Use::SenseHost } else { Use::SenseGc };
        (longest, usage, first.block)
    }

    #[inline]
    fn bus_use(&self, d: usize) -> Use {
        let first = self.txns.get(self.in_hand[d].reads[self.in_hand[d].count as usize - 1]);
        if first.kind == Kind::HostRead { Use::BusHost } else { Use::BusGc }
    }

    #[inline]
    fn read_block(&self, d: usize) -> u32 {
        let hand = &self.in_hand[d];
        self.txns.get(hand.reads[hand.count as usize - 1]).block
    }

    #[inline]
    fn long_block(&self, d: usize) -> u32 {
        self.dies[d].long().and_then(|op| op.block).unwrap_or(NO_BLOCK)
    }

    /// What loading the page buffer is to those who wait: part of the program, or of its resume.
    #[inline]
    fn load_use(&self, d: usize) -> Use {
        match self.dies[d].long().expect("a program is being loaded") {
            op if op.suspends > 0 => Use::Suspended,
            op if op.kind == LongKind::HostProgram => Use::BusProgram,
            _ => Use::BusGc,
        }
    }
}
