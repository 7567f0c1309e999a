//! The flash array of one drive: dies with their queues, channels, decoders, and the scheduling of
//! transactions onto them.
//!
//! The owner submits [`Txn`]s and forwards timer events, and takes what has come to its end
//! ([`Nand::take_ended`]). Nothing here calls up.

mod bus;
mod cache_read;
mod cache_register;
pub mod channel;
mod config;
pub mod course;
pub mod ecc;
mod following;
mod foresight;
mod hold_up;
mod judge;
mod long;
pub mod observe;
mod operations;
mod outage;
pub mod power;
pub mod queue;
mod reads;
mod register;
mod reliability;
mod retry;
mod sequence;
mod single;
mod suspension;
mod trains;
pub mod txn;
mod unpulsed;
mod watch;

use crate::command::{Class, Command, Effect, Step, Use, WAITS, Wait};
use crate::die::{Die, State};
use crate::geometry::{Geometry, Timing};
use crate::numbers::{DieId, TxnId};
use crate::parts::{CacheRegister, PartSpec};
use crate::variation::Trains;
use channel::Channel;
use ecc::Decoder;
use interpulse_engine::{Agenda, ResourceId, SimTime};
use power::meter::Meter;
use power::{PowerConfig, Supply};
use queue::Queue;
use register::{MAX_BATCH, Register};
use txn::{Slab, Txn};
use watch::Watch;

pub use crate::command::NandCounters;
pub use config::NandConfig;
pub use operations::{OperationStats, OperationTimes};
pub use reliability::{ErrorCounters, MOST_ATTEMPTS_COUNTED, Reliability};

/// A transaction that has come to its end, or is certain to.
#[derive(Clone, Copy)]
struct Foretold {
    id: TxnId,
    at: SimTime,
    by: ResourceId,
}

/// A transaction that has come to its end, or is certain to.
pub struct Ended<'a> {
    /// The transaction.
    pub txn: &'a Txn,
    /// When it ends: now, unless it was to be [foretold](Txn::foretell).
    pub at: SimTime,
    /// Whose timer stands for its end, or would, if it does not end now.
    pub by: ResourceId,
}

/// What a die has in hand besides its own state.
#[derive(Clone, Copy)]
struct InHand {
    /// Reads being sensed or moved together.
    reads: [TxnId; MAX_BATCH],
    count: u8,
    /// Reads whose data has moved.
    moved: u8,
    /// The program or erase on the die.
    long: TxnId,
    /// The erase that is suspended beneath a program.
    beneath: TxnId,
    /// Steps of the program or erase on the die still to come.
    steps: &'static [Step],
    /// One of its steps has asked for power, for all that follow.
    powered: bool,
    /// Page loads still to do.
    loads: u32,
    /// The page that moves had begun to move into the cache register, of which whoever follows has been told.
    told: bool,
    /// What has been sensed waits for the cache register to be empty.
    blocked: bool,
    /// A stop was asked for that is under way or refused; set so that it is asked for only once.
    stop_asked: bool,
    /// Reads of this suspension have used the page buffer.
    buffer_used: bool,
    /// When the loading of the page buffer for a resume began.
    reload_from: SimTime,
}

impl InHand {
    const NOTHING: InHand = InHand {
        reads: [TxnId::NONE; MAX_BATCH],
        count: 0,
        moved: 0,
        long: TxnId::NONE,
        beneath: TxnId::NONE,
        steps: &[],
        powered: false,
        loads: 0,
        told: false,
        blocked: false,
        stop_asked: false,
        buffer_used: false,
        reload_from: SimTime::ZERO,
    };
}

/// What the array keeps of a die, beside the die itself.
#[derive(Clone)]
struct Bay {
    channel: u32,
    hand: InHand,
    queue: Queue,
}

/// The flash array of one drive.
#[derive(Clone)]
pub struct Nand {
    geometry: Geometry,
    timing: Timing,
    trains: Trains,
    config: NandConfig,
    dies: Vec<Die>,
    bays: Vec<Bay>,
    channels: Vec<Channel>,
    decoders: Vec<Decoder>,
    /// Of each die; none without cache program.
    registers: Vec<Register>,
    cache: CacheRegister,
    reliability: Option<Box<Reliability>>,
    txns: Slab,
    seq: u64,
    first: u32,
    supply: Supply,
    /// Whether anybody wants to know more of the dies than sums by state; almost never does anybody.
    watched: bool,
    watch: Watch,
    /// Submission instant of the host write that has waited longest for the write cache.
    oldest_write: Option<SimTime>,
    /// Transactions that have come to their end, in order, until the owner takes them.
    ended: Vec<Foretold>,
    /// What has been counted.
    pub counters: NandCounters,
    /// How the programs and erases completed in the measurement window went.
    pub operations: OperationStats,
}

impl Nand {
    /// An idle array whose resources take the agenda indices from `first` on: dies, then channels, then
    /// decoders, then cache registers, if they are used; see [`Nand::resources`].
    pub fn new(
        geometry: Geometry,
        part: &PartSpec,
        config: NandConfig,
        seed: u64,
        first: ResourceId,
    ) -> Nand {
        let dies = geometry.dies() as usize;
        let timing = Timing::new(part, geometry.unit_bytes);
        let reprograms = config.super_layer > 0;
        let reliability = config.errors.as_deref().map(|spec| {
            Box::new(Reliability::new(spec, &geometry, &timing, config.ecc_latency, reprograms, seed))
        });
        let (all, channels) = (dies as u32, geometry.channels);
        let supply = Supply::new(&config.power, &part.power, part.buffer_setup, all, channels);
        let meter = config.power.trace.map(|window| {
            Box::new(Meter::new(&part.power, all, channels, window, config.power.standby_after))
        });
        Nand {
            timing,
            reliability,
            trains: Trains::new(part, config.long_operations, seed),
            dies: vec![
                Die::new(
                    geometry.planes,
                    geometry.blocks_per_plane,
                    geometry.pages_per_block(),
                    geometry.pages_per_word_line
                );
                dies
            ],
            bays: (0..all)
                .map(|d| Bay {
                    channel: geometry.channel_of(DieId(d)),
                    hand: InHand::NOTHING,
                    queue: Queue::default(),
                })
                .collect(),
            channels: vec![Channel::default(); geometry.channels as usize],
            decoders: vec![Decoder::new(config.ecc_interval); geometry.channels as usize],
            registers: vec![Register::default(); if geometry.has_cache_register() { dies } else { 0 }],
            cache: part.cache,
            txns: Slab::default(),
            seq: 0,
            first: first.0,
            watched: config.power != PowerConfig::default(),
            watch: Watch::new(meter, all),
            supply,
            oldest_write: None,
            ended: Vec::with_capacity(64),
            counters: NandCounters::default(),
            operations: OperationStats::default(),
            geometry,
            config,
        }
    }

    /// Agenda resources an array of this geometry needs.
    pub fn resources(geometry: &Geometry) -> u32 {
        let registers = if geometry.has_cache_register() { geometry.dies() } else { 0 };
        geometry.dies() + 2 * geometry.channels + registers
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
        self.txns.live() - self.ended.len()
    }

    /// Whether a transaction has come to its end and has not been taken.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The transaction that came to its end last, which [`Nand::take_ended`] would take.
    #[inline]
    pub fn last_ended(&self) -> Option<Ended<'_>> {
        self.ended.last().map(|of| Ended { txn: self.txns.get(of.id), at: of.at, by: of.by })
    }

    /// Takes the transaction that came to its end last, as [`Nand::take_ended`], for whoever has looked at it.
    #[inline]
    pub fn forget_ended(&mut self) {
        if let Some(of) = self.ended.pop() {
            self.txns.remove(of.id);
        }
    }

    /// Takes the transaction that came to its end last: a read when its data is decoded, all else when the die is done.
    #[inline]
    pub fn take_ended(&mut self) -> Option<Txn> {
        self.ended.pop().map(|of| self.txns.remove(of.id))
    }

    /// Transactions waiting for a die (the running one is not among them).
    pub fn waiting_at(&self, die: DieId) -> u32 {
        self.bays[die.index()].queue.waiting()
    }

    /// Starts a new measurement window of [`Nand::operations`].
    pub fn reset_window(&mut self) {
        self.operations = OperationStats::default();
    }

    /// Puts garbage collection before host programs on a die, or not.
    #[inline]
    pub fn set_gc_urgent(&mut self, die: DieId, urgent: bool) {
        self.bays[die.index()].queue.gc_urgent = urgent;
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
    ///
    /// Whoever submits knows the kind of its transaction, and needs only what is done with that.
    #[inline(always)]
    pub fn submit(&mut self, agenda: &mut Agenda, mut txn: Txn) {
        let now = agenda.now();
        let (d, command) = (txn.die.index(), txn.kind.command());
        (txn.seq, txn.mark, txn.waits) = (self.seq, now, [0; WAITS]);
        self.seq += 1;
        // Nobody is lent it before it is in the slab, so that it is made there.
        let id = self.txns.insert(txn);
        if self.watched {
            self.take_watched(agenda, now, d, id);
        } else {
            self.take(agenda, now, d, id, command);
        }
    }

    /// Die `d` gets transaction `id`, which is new.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        id: TxnId,
        command: &'static Command,
    ) {
        let die = &mut self.dies[d];
        // An idle die has an empty queue: nothing to wait for.
        let idle = die.state() == State::Idle;
        debug_assert!(!idle || self.bays[d].queue.is_empty());
        if !idle || command.class == Class::HostWrite {
            let txn = self.txns.get_mut(id);
            die.usage.read(now, &mut txn.waits);
            if idle {
                txn.own = txn.waits[Wait::Programs as usize];
            }
        }
        if !idle {
            self.wait_in_line(agenda, now, d, id, command.class);
        } else if command.effect == Effect::Reads && self.is_plain() {
            self.read_single(agenda, now, d, id);
        } else {
            self.start(agenda, now, d, id);
        }
    }

    /// Die `d` has something in hand: transaction `id` waits, and may have it stop what it does.
    #[inline(never)]
    fn wait_in_line(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId, class: Class) {
        self.bays[d].queue.push(&mut self.txns, id, class);
        match self.dies[d].state() {
            State::Pulsing if self.may_preempt(d, class) => self.ask_to_stop(agenda, now, d),
            State::Pulsing if self.has_registers() => self.load_ahead(agenda, now, d),
            // Suspended with nothing in hand: held by a timer.
            State::Suspended => self.next_on(agenda, now, d),
            State::Held => self.serve_before_resuming(agenda, now, d),
            _ => {}
        }
    }

    /// Handles the timer of resource `index` of the array (counted from its first).
    #[inline]
    pub fn on_timer(&mut self, agenda: &mut Agenda, index: u32) {
        if self.watched {
            self.on_timer_watched(agenda, index);
            return;
        }
        let now = agenda.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        if let Some(die) = self.dies.get(index as usize) {
            let d = index as usize;
            match die.state() {
                // Most events are these.
                State::Sensing => self.sensed(agenda, now, d),
                State::Out => self.moved_out(agenda, now, d),
                _ => self.on_die(agenda, now, d),
            }
        } else if index < dies + channels {
            self.on_channel(agenda, now, (index - dies) as usize);
        } else if index < dies + 2 * channels {
            self.on_decoder(agenda, now, (index - dies - channels) as usize);
        } else {
            self.on_register(agenda, now, (index - dies - 2 * channels) as usize);
        }
    }

    // ---- dies ---------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn timer(&self, d: usize) -> ResourceId {
        ResourceId(self.first + d as u32)
    }

    fn on_die(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Sensing => self.sensed(agenda, now, d),
            State::Out => self.moved_out(agenda, now, d),
            State::Busy => self.busy_over(agenda, now, d),
            State::Load => self.loaded(agenda, now, d),
            State::Pulsing => self.pulsed(agenda, now, d),
            State::Stopping => self.halted(agenda, now, d),
            State::Entering => {
                self.release_power(d);
                let block = self.long_block(d);
                self.dies[d].go(now, State::Suspended, Use::Suspended, block);
                self.next_on(agenda, now, d);
            }
            State::Suspended => self.next_on(agenda, now, d),
            State::Resuming => self.pulses_from(agenda, now, d, now),
            State::Retrying => self.sequence_timer(agenda, now, d),
            other => unreachable!("die {d} has no timer in state {other:?}"),
        }
    }

    /// The die has nothing in hand (or a suspended operation): takes the next transaction.
    pub(super) fn next_on(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Idle => {
                if let Some(id) =
                    self.bays[d].queue.take(&self.txns, self.config.policy, self.config.gc_reads)
                {
                    self.account_wait(now, d, id);
                    self.take_up(agenda, now, d, id);
                }
            }
            State::Suspended => self.next_in_suspension(agenda, now, d),
            other => unreachable!("die {d} takes no transaction in state {other:?}"),
        }
    }

    /// Turns the reading of causes at submission into the account of the wait.
    pub(super) fn account_wait(&mut self, now: SimTime, d: usize, id: TxnId) {
        let usage = &mut self.dies[d].usage;
        let txn = self.txns.get_mut(id);
        if txn.is_retry() {
            // Its account is that of its first attempt; what comes after is the time of its retry.
            usage.settle(now);
            return;
        }
        if txn.kind.command().class == Class::HostWrite {
            // Its account is made up when it is complete: it may be stopped for others.
            usage.settle(now);
            txn.own = usage.causes()[Wait::Programs as usize];
            return;
        }
        usage.read_since(now, &mut txn.waits);
        txn.mark = now;
    }

    #[inline]
    pub(super) fn start(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        if self.has_registers() {
            self.comes_before(agenda, d, id);
        }
        match self.txns.get(id).kind.command().effect {
            Effect::Reads => self.start_read(agenda, now, d, id),
            _ => self.start_long(agenda, now, d, id),
        }
    }

    /// Transaction `id` has come to its end now.
    #[inline]
    pub(super) fn ends(&mut self, now: SimTime, id: TxnId) {
        self.ended.push(Foretold { id, at: now, by: ResourceId(self.first) });
    }

    /// Whether dies use cache registers.
    #[inline(always)]
    pub(super) fn has_registers(&self) -> bool {
        !self.registers.is_empty()
    }
}
