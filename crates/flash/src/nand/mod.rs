//! Flash array of one drive: dies with their queues, channels, decoders, and the scheduling of transactions.
//!
//! The owner submits [`Txn`]s, forwards timer events and takes ended transactions ([`Nand::take_ended`]). The array calls
//! nothing above it.

mod array_queries;
mod bus;
mod cache_read;
mod cache_register;
pub mod channel;
mod config;
pub mod copy_source;
pub mod copyback;
mod decode_outcome;
mod deterministic;
pub mod ecc;
mod fail_fast;
pub mod flow_order;
mod held_back;
mod hold_up;
mod joined_programs;
mod multi_block_erases;
mod non_array_commands;
mod notify;
pub mod observer;
mod observers;
mod on_die_retry;
mod open_word_lines;
mod operation_stats;
mod other_reads;
mod outage;
pub mod phase_schedule;
mod plane_reads;
mod planes;
pub mod power;
mod program_erase;
pub mod queue;
mod reads;
mod register;
mod reliability;
mod repeats;
mod retry;
mod sequence;
mod single_read;
mod slices;
mod stall;
mod stalls;
mod sub_blocks;
mod suspend_policies;
mod suspension;
mod suspension_change;
mod trains;
mod two_step;
pub mod txn;

use crate::command::{Class, Command, DieActivity, Effect, Step, WAITS, Wait};
use crate::die::{Die, State};
use crate::geometry::{Geometry, Timing};
use crate::ids::{DieId, TxnId};
use crate::parts::{CacheRegister, PartSpec, PlaneAddress, SubBlocks};
use crate::variation::Trains;
use channel::Channel;
use ecc::Decoder;
use flow_order::{FlowOrder, Rank};
use held_back::HeldBack;
use interpulse_engine::{EventQueue, ResourceId, SimTime};
use observers::Observers;
use planes::PlaneReads;
use power::meter::Meter;
use power::{PowerConfig, Supply};
use queue::Queue;
use register::{MAX_BATCH, Register};
use stalls::Stalls;
use suspend_policies::SuspendPolicies;
use txn::{Slab, Txn};

pub use crate::command::NandCounters;
pub use config::{NandConfig, Suspension};
pub use fail_fast::FailFastFor;
pub use operation_stats::{OperationStats, OperationTimes};
pub use reliability::{ErrorCounters, MOST_ATTEMPTS_COUNTED, Reliability};

/// Ended transaction, or one whose end is certain.
#[derive(Clone, Copy)]
pub struct Ended {
    id: TxnId,
    /// When it ends: now, unless it [completes early](Txn::complete_early).
    pub at: SimTime,
    /// Resource whose timer is set for its end, or would be.
    pub by: ResourceId,
}

/// Active transactions of a die and their progress.
#[derive(Clone, Copy)]
struct ActiveOps {
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
    /// Power has been requested for all remaining steps.
    powered: bool,
    /// The read in `reads` follows `steps`: it is no page read, or has not come to its sensing.
    steps_read: bool,
    /// Page loads still to do.
    loads: u32,
    /// The command of a program has requested its own bus and has not ended.
    commands: bool,
    /// The transfer began into the cache register and has been reported.
    reported: bool,
    /// Sensed data waits for the cache register.
    blocked: bool,
    /// A stop was requested, and is under way or refused; avoids a second request.
    stop_requested: bool,
    /// Reads of this suspension have used the page buffer.
    buffer_used: bool,
    /// When the loading of the page buffer for a resume began.
    reload_from: SimTime,
}

impl ActiveOps {
    const NOTHING: ActiveOps = ActiveOps {
        reads: [TxnId::NONE; MAX_BATCH],
        count: 0,
        moved: 0,
        long: TxnId::NONE,
        beneath: TxnId::NONE,
        steps: &[],
        powered: false,
        steps_read: false,
        loads: 0,
        commands: false,
        reported: false,
        blocked: false,
        stop_requested: false,
        buffer_used: false,
        reload_from: SimTime::ZERO,
    };
}

/// Scheduling context of a die.
#[derive(Clone)]
struct DieContext {
    channel: u32,
    /// Where its commands move: the channel, or the channel's bus for commands.
    command_bus: u32,
    active: ActiveOps,
    /// Held if the die stalls when it is idle next.
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
    contexts: Vec<DieContext>,
    /// Buses for data; then, if commands have their own, as many for them.
    channels: Vec<Channel>,
    /// Of each channel.
    decoders: Vec<Decoder>,
    /// Of each die; none without cache program.
    registers: Vec<Register>,
    plane_reads: PlaneReads,
    /// Of each die: programs that pulse together with the one on it; none without multi-plane programs of several.
    joined: Vec<Vec<TxnId>>,
    /// Of each die: erases that are one operation with the one on it; none without multi-block erases.
    erased_with: Vec<Vec<TxnId>>,
    plane_address: PlaneAddress,
    sub_blocks: SubBlocks,
    /// Word lines between their steps, if the part programs in two.
    two_step: Option<Box<open_word_lines::TwoStep>>,
    /// Sources of copybacks by transaction; none without copybacks.
    copies: Vec<Vec<copy_source::Source>>,
    /// Whether there are cache registers or planes that read on their own.
    has_beside: bool,
    /// Whether dies use cache registers for reads, or predict whether what they sensed can be corrected.
    acts_after_sensing: bool,
    cache: CacheRegister,
    reliability: Option<Box<Reliability>>,
    txns: Slab,
    seq: u64,
    first: u32,
    supply: Supply,
    /// Order of waiting host reads; `None` if it is that of submission.
    flow_order: Option<Box<FlowOrder>>,
    /// Present where dies and channels may stall.
    stalls: Option<Box<Stalls>>,
    /// Whether there are observers, a budget, or programs in two steps; false in almost all runs.
    observed: bool,
    observers: Observers,
    /// Submission instant of the host write that has waited longest for the write cache.
    oldest_write: Option<SimTime>,
    policies: SuspendPolicies,
    /// What fail-fast reads do not wait for.
    fail_fast_for: FailFastFor,
    /// What waits for the end of a deterministic window, if there are such windows.
    held_back: Option<Box<HeldBack>>,
    /// Ended transactions, in order, until the owner takes them.
    ended: Vec<Ended>,
    /// Counters.
    pub counters: NandCounters,
    /// Statistics of the programs and erases completed in the measurement window.
    pub operations: OperationStats,
}

impl Nand {
    /// An idle array whose resources take the event queue indices from `first` on: dies, then channels, then their buses
    /// for commands, then decoders, then cache registers or planes that read on their own, if they are used; see
    /// [`Nand::resources`].
    ///
    /// Panics on a combination that the configuration refuses ([`NandConfig::excluded`]).
    pub fn new(
        geometry: Geometry,
        part: &PartSpec,
        config: NandConfig,
        seed: u64,
        first: ResourceId,
    ) -> Nand {
        assert_eq!(config.excluded(part), None);
        let dies = geometry.dies() as usize;
        let timing = Timing::new(part, geometry.unit_bytes);
        let reprograms = config.super_layer > 0;
        let reliability = config.errors.as_deref().map(|spec| {
            Box::new(Reliability::new(spec, &geometry, &timing, config.ecc_latency, reprograms, seed))
        });
        let (all, channels) = (dies as u32, geometry.channels);
        let apart = if geometry.separate_commands { channels } else { 0 };
        let supply = Supply::new(&config.power, &part.power, part.buffer_setup, all, channels);
        let meter = config.power.trace.map(|window| {
            Box::new(Meter::new(&part.power, all, channels, window, config.power.standby_after))
        });
        Nand {
            timing,
            reliability,
            trains: Trains::new(part, config.long_operations, config.erase_method, seed),
            dies: vec![
                Die::new(
                    geometry.planes,
                    geometry.blocks_per_plane,
                    geometry.pages_per_block(),
                    geometry.pages_per_word_line
                );
                dies
            ],
            contexts: (0..all)
                .map(|d| DieContext {
                    channel: geometry.channel_of(DieId(d)),
                    command_bus: geometry.channel_of(DieId(d)) + apart,
                    active: ActiveOps::NOTHING,
                    queue: Queue::default(),
                })
                .collect(),
            channels: vec![Channel::new(config.channel_order); (channels + apart) as usize],
            decoders: vec![Decoder::new(config.ecc_interval); geometry.channels as usize],
            registers: vec![Register::default(); if geometry.has_cache_register() { dies } else { 0 }],
            plane_reads: PlaneReads::new(&geometry),
            joined: vec![Vec::new(); if config.multi_plane_programs { dies } else { 0 }],
            erased_with: vec![Vec::new(); if config.multi_block.is_used() { dies } else { 0 }],
            plane_address: part.plane_address,
            sub_blocks: part.sub_blocks,
            two_step: part.two_step.map(|of| open_word_lines::TwoStep::new(of, dies)),
            copies: Vec::new(),
            acts_after_sensing: geometry.cache_reads || config.judges_on_die(),
            has_beside: geometry.has_cache_register() || geometry.independent_plane_reads,
            cache: part.cache,
            txns: Slab::default(),
            seq: 0,
            first: first.0,
            observed: config.power != PowerConfig::default() || part.two_step.is_some(),
            observers: Observers::new(meter, all),
            supply,
            flow_order: None,
            stalls: None,
            oldest_write: None,
            policies: SuspendPolicies::new(config.suspension()),
            fail_fast_for: FailFastFor::default(),
            held_back: None,
            ended: Vec::with_capacity(64),
            counters: NandCounters::default(),
            operations: OperationStats::default(),
            geometry,
            config,
        }
    }

    /// Orders the host reads that wait for a die by class, with these weights of the high, medium and low class.
    pub fn order_by_class(&mut self, weights: [u32; 3]) {
        self.flow_order = Some(Box::new(FlowOrder::new(weights, self.dies.len())));
    }

    /// Whether host reads are ordered by class.
    #[inline]
    pub fn orders_by_class(&self) -> bool {
        self.flow_order.is_some()
    }

    /// Sets the class of the host reads that are submitted next, where it matters.
    pub fn set_rank(&mut self, rank: Rank) {
        if let Some(order) = &mut self.flow_order {
            order.set_rank(rank);
        }
    }

    /// EventQueue resources an array of this geometry needs.
    pub fn resources(geometry: &Geometry) -> u32 {
        let registers = if geometry.has_cache_register() { geometry.dies() } else { 0 };
        let commands = if geometry.separate_commands { geometry.channels } else { 0 };
        geometry.dies() + 2 * geometry.channels + commands + registers + PlaneReads::timers(geometry)
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
        &self.channels[..self.decoders.len()]
    }

    /// The decoders, one for each channel.
    pub fn decoders(&self) -> &[Decoder] {
        &self.decoders
    }

    /// The buses for commands; none where commands move over the channels.
    pub fn command_buses(&self) -> &[Channel] {
        &self.channels[self.decoders.len()..]
    }

    /// Transactions not yet finished.
    pub fn pending(&self) -> usize {
        self.txns.live() - self.ended.len()
    }

    /// Whether an ended transaction has not been taken.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes the last ended transaction: a read when its data is decoded, others when the die is done.
    #[inline]
    pub fn take_ended(&mut self) -> Option<Txn> {
        self.next_ended().map(|ended| self.remove_ended(ended))
    }

    /// As [`Nand::take_ended`]; the array holds the transaction until [`Nand::remove_ended`].
    #[inline]
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.ended.pop()
    }

    /// The transaction that has ended.
    #[inline]
    pub fn ended_txn(&self, ended: Ended) -> &Txn {
        self.txns.get(ended.id)
    }

    /// Removes the transaction that has ended.
    #[inline]
    pub fn remove_ended(&mut self, ended: Ended) -> Txn {
        self.txns.remove(ended.id)
    }

    /// Transactions waiting for a die (the running one is not among them).
    pub fn waiting_at(&self, die: DieId) -> u32 {
        self.contexts[die.index()].queue.waiting()
    }

    /// Starts a new measurement window of [`Nand::operations`].
    pub fn reset_window(&mut self) {
        self.operations = OperationStats::default();
    }

    /// Puts garbage collection before host programs on a die while one of its FTLs (`ftl`, less than 32) wants that.
    #[inline]
    pub fn set_gc_urgent(&mut self, die: DieId, ftl: u32, urgent: bool) {
        let of = &mut self.contexts[die.index()].queue.gc_urgent;
        *of = *of & !(1 << ftl) | u32::from(urgent) << ftl;
    }

    /// Sets the submission instant of the host write that has waited longest for the write cache; `None` if none waits. The
    /// owner keeps it current: a scheme may give priority to starving writes.
    #[inline]
    pub fn set_oldest_write(&mut self, submitted: Option<SimTime>) {
        self.oldest_write = submitted;
    }

    /// Submission instant of the host write that has waited longest for the write cache.
    pub fn oldest_write(&self) -> Option<SimTime> {
        self.oldest_write
    }

    /// Submits a transaction; it starts at once if its die is free. Inlined so that the compiler sees its kind.
    #[inline(always)]
    pub fn submit(&mut self, events: &mut EventQueue, mut txn: Txn) {
        let now = events.now();
        let (d, command) = (txn.die.index(), txn.kind.command());
        (txn.seq, txn.mark, txn.waits) = (self.seq, now, [0; WAITS]);
        self.seq += 1;
        // No reference is taken before the insertion, so that the transaction is built in the slab.
        let id = self.txns.insert(txn);
        if self.observed {
            self.take_observed(events, now, d, id);
        } else {
            self.take(events, now, d, id, command);
        }
    }

    /// Die `d` receives new transaction `id`.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        id: TxnId,
        command: &'static Command,
    ) {
        let die = &mut self.dies[d];
        // An idle die has an empty queue: nothing to wait for.
        let idle = die.state() == State::Idle;
        debug_assert!(!idle || self.contexts[d].queue.is_empty());
        if !idle || command.class == Class::HostWrite {
            let txn = self.txns.get_mut(id);
            die.usage.read(now, &mut txn.waits);
            if idle {
                txn.own = txn.waits[Wait::Programs as usize];
            }
        }
        if !idle {
            self.enqueue(events, now, d, id, command.class);
        } else if command.is_page_read() && self.is_plain() {
            self.read_single(events, now, d, id);
        } else {
            self.start(events, now, d, id);
        }
    }

    /// Die `d` is busy: queues transaction `id`, which may stop the operation on the die.
    #[inline(never)]
    fn enqueue(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId, class: Class) {
        match &mut self.flow_order {
            None => self.contexts[d].queue.push(&mut self.txns, id, class),
            Some(order) => order.push(&mut self.contexts[d].queue, &mut self.txns, d, id, class),
        }
        match self.dies[d].state() {
            State::Pulsing if self.may_preempt(d, class) => self.request_stop(events, now, d),
            State::Pulsing if self.has_registers() => self.load_ahead(events, now, d),
            // Suspended and held by a timer.
            State::Suspended => self.next_on(events, now, d),
            State::Held => self.serve_before_resuming(events, now, d),
            State::PlaneReads => self.add_plane_reads(events, now, d),
            _ => {}
        }
    }

    /// Handles the timer of resource `index` of the array (counted from its first).
    #[inline]
    pub fn on_timer(&mut self, events: &mut EventQueue, index: u32) {
        if self.observed {
            self.on_timer_observed(events, index);
            return;
        }
        let now = events.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        let decoders = self.decoders.len() as u32;
        if let Some(die) = self.dies.get(index as usize) {
            let d = index as usize;
            match die.state() {
                // Most events are these.
                State::Sensing => self.sensed(events, now, d),
                State::Out => self.moved_out(events, now, d),
                _ => self.on_die(events, now, d),
            }
        } else if index < dies + channels {
            self.on_channel(events, now, (index - dies) as usize);
        } else if index < dies + channels + decoders {
            self.on_decoder(events, now, (index - dies - channels) as usize);
        } else {
            self.on_beside(events, now, (index - dies - channels - decoders) as usize);
        }
    }

    /// Timer `index` of the cache registers, or else of the planes. Returns the die.
    #[cold]
    #[inline(never)]
    pub(super) fn on_beside(&mut self, events: &mut EventQueue, now: SimTime, index: usize) -> usize {
        if self.has_registers() {
            self.on_register(events, now, index);
            index
        } else {
            self.on_plane(events, now, index)
        }
    }

    // ---- dies ---------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn timer(&self, d: usize) -> ResourceId {
        ResourceId(self.first + d as u32)
    }

    fn on_die(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Sensing => self.sensed(events, now, d),
            State::Out => self.moved_out(events, now, d),
            State::Busy => self.busy_over(events, now, d),
            State::Load => self.loaded(events, now, d),
            State::LoadWait => self.commanded(events, now, d),
            State::Pulsing => self.pulsed(events, now, d),
            State::Stopping => self.halted(events, now, d),
            State::Entering => {
                self.release_power(d);
                let block = self.long_block(d);
                self.dies[d].go(now, State::Suspended, DieActivity::Suspended, block);
                self.next_on(events, now, d);
            }
            State::Suspended => self.next_on(events, now, d),
            State::Resuming => self.pulses_from(events, now, d, now),
            State::Retrying => self.sequence_timer(events, now, d),
            State::Predicting => self.predicted(events, now, d),
            State::Stalled => self.stall_over(events, now, d),
            other => unreachable!("die {d} has no timer in state {other:?}"),
        }
    }

    /// The die is idle or suspended: starts the next transaction.
    pub(super) fn next_on(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        match self.dies[d].state() {
            State::Idle => {
                if let Some(id) =
                    self.contexts[d].queue.take(&self.txns, self.config.policy, self.config.gc_reads)
                {
                    self.account_wait(now, d, id);
                    self.dispatch(events, now, d, id);
                } else if self.contexts[d].queue.is_held() {
                    self.begin_stall(events, now, d);
                }
            }
            State::Suspended => self.next_in_suspension(events, now, d),
            other => unreachable!("die {d} takes no transaction in state {other:?}"),
        }
    }

    /// Turns the reading of causes at submission into the account of the wait.
    pub(super) fn account_wait(&mut self, now: SimTime, d: usize, id: TxnId) {
        let usage = &mut self.dies[d].usage;
        let txn = self.txns.get_mut(id);
        if txn.is_retry() {
            // The account covers the first attempt; the rest is retry time.
            usage.settle(now);
            return;
        }
        if txn.kind.command().class == Class::HostWrite {
            // The account is made when the program is complete: it may be suspended.
            usage.settle(now);
            txn.own = usage.causes()[Wait::Programs as usize];
            return;
        }
        usage.read_since(now, &mut txn.waits);
        txn.mark = now;
    }

    #[inline]
    pub(super) fn start(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        if self.has_registers() {
            self.before_dispatch(events, d, id);
        }
        let command = self.txns.get(id).kind.command();
        match command.effect {
            Effect::Reads if command.is_page_read() => self.start_read(events, now, d, id),
            Effect::Reads => self.start_other_read(events, now, d, id),
            _ => self.start_long(events, now, d, id),
        }
    }

    /// Transaction `id` has ended now.
    #[inline]
    pub(super) fn ends(&mut self, now: SimTime, id: TxnId) {
        self.ended.push(Ended { id, at: now, by: ResourceId(self.first) });
    }

    /// Whether dies use cache registers.
    #[inline(always)]
    pub(super) fn has_registers(&self) -> bool {
        !self.registers.is_empty()
    }
}
