//! Bit errors of an array: error models, block states, ECC outcomes and counters.

use super::repeats::Repeats;
use super::sequence::Sequence;
use super::txn::Txn;
use crate::command::{Class, Effect};
use crate::errors::block_state::{BlockState, BlockStates};
use crate::errors::model::Page;
use crate::errors::sampler::ErrorSample;
use crate::errors::{Ecc, ErrorModel, ErrorSpec};
use crate::geometry::{BlockAddress, Geometry, PageAddress, Timing};
use crate::ids::{BlockId, DieId};
use crate::reprogram::MAX_REPROGRAMS;
use interpulse_engine::{Duration, SimTime, counters};

/// Numbers of further attempts counted apart; more count as the last.
pub const MOST_ATTEMPTS_COUNTED: usize = 32;

counters! {
    /// What bit errors led to. Reads are page reads, of the host and of garbage collection.
    pub struct ErrorCounters {
        /// page reads decoded, page-buffer reads not counted
        reads: "operations",
        /// bits that these reads returned
        bits: "bits",
        /// errors that their first sensings are expected to have held, in 1/1024
        expected_errors: "bits / 1024",
        /// page reads of the host whose first decode failed
        host_reads_retried: "operations",
        /// page reads of garbage collection whose first decode failed
        gc_reads_retried: "operations",
        /// retry steps decoded
        retry_steps: "operations",
        /// retry steps whose sensing was begun by pipelining and cut off, since the one before succeeded
        cut_off_sensings: "operations",
        /// sensings that a die repeated by itself, without a transfer, since it took them for uncorrectable
        on_die_sensings: "operations",
        /// of them, those of data that would have been corrected
        on_die_needless: "operations",
        /// uncorrectable sensings that a die took for correctable, so that their data moved
        on_die_missed: "operations",
        /// transfers and decodes of uncorrectable data that repeated sensings avoided
        avoided_transfers: "operations",
        /// stages of soft decoding
        soft_decodes: "operations",
        /// time of page reads of the host beyond their first decode
        host_retry_time: "ns",
        /// time of page reads of garbage collection beyond their first decode
        gc_retry_time: "ns",
        /// page reads of the host that could not be corrected
        uncorrectable_host_reads: "operations",
        /// page reads of garbage collection that could not be corrected; the data moves on with its errors
        uncorrectable_gc_reads: "operations",
        /// codewords that could not be corrected
        uncorrectable_codewords: "codewords",
    }
}

/// Reads after which a block past its limit requests a rewrite again: an open block cannot be rewritten.
const REMINDER: u32 = 16;

/// Bit errors of an array.
#[derive(Clone)]
pub struct Reliability {
    model: ErrorModel,
    /// The same of reprogrammable word lines, by RPCnt.
    reprogrammed: Box<[ErrorModel]>,
    blocks: BlockStates,
    pages_per_block: u32,
    sub_blocks: u32,
    pub(super) ecc: Ecc,
    latencies: Box<[Duration]>,
    /// Sensing time of a retry step by page type.
    pub(super) retry_sensing: Box<[Duration]>,
    reclaim_reads: Option<u32>,
    pub(super) sequences: Box<[Sequence]>,
    /// Of each die, if dies repeat sensings.
    pub(super) repeats: Box<[Repeats]>,
    /// What has been counted.
    pub counters: ErrorCounters,
    /// Page reads by number of further attempts, retry steps and soft stages.
    pub by_attempts: [u64; MOST_ATTEMPTS_COUNTED + 1],
}

impl Reliability {
    pub(super) fn new(
        spec: &ErrorSpec,
        geometry: &Geometry,
        timing: &Timing,
        fixed: Duration,
        reprograms: bool,
        seed: u64,
    ) -> Reliability {
        let (dies, planes, blocks) = (geometry.dies(), geometry.planes, geometry.blocks_per_plane);
        let model = ErrorModel::new(spec, geometry, seed);
        let mut states = BlockStates::new(dies, planes, blocks, spec.initial_age.as_ns());
        for die in DieId::first(dies) {
            for plane in 0..planes {
                for block in BlockId::first(blocks) {
                    let at = BlockAddress { die, plane, block };
                    states.set_history(at, 0, model.initial_age(spec, at));
                }
            }
        }
        let reprogrammed = |count: u8| {
            let spec = ErrorSpec { reprograms: f64::from(count), ..spec.clone() };
            ErrorModel::new(&spec, geometry, seed)
        };
        let counts = if reprograms { 0..MAX_REPROGRAMS + 1 } else { 0..0 };
        Reliability {
            model,
            reprogrammed: counts.map(reprogrammed).collect(),
            blocks: states,
            pages_per_block: geometry.pages_per_block(),
            sub_blocks: geometry.sub_blocks,
            latencies: spec.ecc.latencies(fixed).into(),
            retry_sensing: timing.read.iter().map(|&t| spec.ecc.retry_sensing(t)).collect(),
            ecc: spec.ecc.clone(),
            reclaim_reads: spec.reclaim_reads,
            sequences: vec![Default::default(); dies as usize].into(),
            repeats: vec![Default::default(); spec.ecc.retry.on_die().map_or(0, |_| dies as usize)].into(),
            counters: ErrorCounters::default(),
            by_attempts: [0; MOST_ATTEMPTS_COUNTED + 1],
        }
    }

    /// The state of a block.
    pub fn block(&self, at: BlockAddress) -> &BlockState {
        self.blocks.get(at)
    }

    /// Age of the data of a block.
    pub fn age(&self, at: BlockAddress, now: SimTime) -> Duration {
        Duration::from_ns(self.blocks.age(self.blocks.get(at), now))
    }

    /// Sets the age of the data of a block, and its reads since the erase, before the start.
    pub fn set_past(&mut self, at: BlockAddress, age: Duration, reads: u32) {
        self.blocks.set_past(at, age.as_ns(), reads);
    }

    /// Sets the program/erase cycles of a block before the start.
    pub fn set_cycles(&mut self, at: BlockAddress, cycles: u32) {
        self.blocks.get_mut(at).cycles = cycles;
    }

    /// Notes the end of a program or erase.
    pub(super) fn finished(&mut self, txn: &Txn, now: SimTime) {
        for plane in txn.planes().each() {
            let at = txn.block_on(plane);
            match txn.kind.command().effect {
                Effect::Erases if txn.is_of_whole_block() => self.whole_block_erased(at),
                Effect::Erases => self.blocks.erased(at, txn.cycles().saturating_add(1)),
                // A block counts as old as its first word line's first program.
                _ if txn.page == 0 && txn.reprograms().is_none() => self.blocks.programmed(at, now),
                _ => {}
            }
        }
    }

    /// Notes an erase of all sub-blocks of the block of `at`, each of which has its own cycles.
    #[cold]
    fn whole_block_erased(&mut self, at: BlockAddress) {
        let first = at.block.0 - at.block.0 % self.sub_blocks;
        for block in (first..first + self.sub_blocks).map(BlockId) {
            let at = BlockAddress { block, ..at };
            let cycles = self.blocks.get(at).cycles;
            self.blocks.erased(at, cycles.saturating_add(1));
        }
    }

    /// Disturbs the other sub-blocks of the block of `at` as much as `reads` reads do.
    #[inline]
    pub(super) fn disturb_beside(&mut self, at: BlockAddress, reads: u32) {
        if self.sub_blocks > 1 {
            self.disturb_each_beside(at, reads);
        }
    }

    #[cold]
    #[inline(never)]
    fn disturb_each_beside(&mut self, at: BlockAddress, reads: u32) {
        let first = at.block.0 - at.block.0 % self.sub_blocks;
        for block in (first..first + self.sub_blocks).map(BlockId).filter(|&block| block != at.block) {
            if let Some(state) = self.blocks.get_if_any(BlockAddress { block, ..at }) {
                state.reads = state.reads.saturating_add(reads);
            }
        }
    }

    /// A copyback has sensed the page of `read`, with `extra_cycles` of wear by suspensions, to program it to page `to`: its errors
    /// are not corrected. They are those of the first attempt, which a die senses with.
    pub(super) fn copied(&mut self, read: &Txn, extra_cycles: u32, to: PageAddress, now: SimTime) {
        let address = PageAddress { of: read.block_on(read.plane.into()), page: read.page };
        self.disturb_beside(address.of, 1);
        let state = self.blocks.get_mut(address.of);
        state.reads = state.reads.saturating_add(1);
        let state = *state;
        let page = Page { address, attempt: 0, units: 1, sensing: 0 };
        let own = self.model.ln_rber(&state, extra_cycles, self.blocks.age(&state, now), &page);
        let ln = self.blocks.carried(address).map_or(own, |carried| self.model.sum(own, carried));
        self.blocks.carry(to, ln, self.pages_per_block);
    }

    /// Whether a block has been read as often as it may be before its data should be written anew.
    pub fn is_worn_by_reads(&self, at: BlockAddress) -> bool {
        self.reclaim_reads.is_some_and(|limit| self.blocks.get(at).reads >= limit)
    }

    /// Decides the ECC outcome of the sensing of `txn`, with `extra_cycles` of wear by suspensions, from a word line reprogrammed
    /// this often; returns the decode latency.
    pub(super) fn decode_outcome(
        &mut self,
        txn: &mut Txn,
        extra_cycles: u32,
        reprogrammed: Option<u8>,
        now: SimTime,
    ) -> Duration {
        let first = !txn.is_retry();
        let (drawn, page, first_step) = self.sense(txn, extra_cycles, reprogrammed, now, first);
        if first {
            self.count_first(&drawn, &page);
        } else {
            self.counters.retry_steps += 1;
        }
        let fails = drawn.worst > self.ecc.capability || txn.is(Txn::LOST);
        txn.put(Txn::FAILS, fails);
        txn.set_attempts(first_step, txn.attempt(), drawn.worst);
        if fails && u32::from(txn.attempt()) == self.ecc.max_retries {
            self.count_uncorrectable(&drawn, &page);
        }
        self.latency_of(drawn.worst)
    }

    /// Decides the ECC outcome of a sensing whose data is still in the die; returns whether the die takes it for uncorrectable.
    pub(super) fn judge_on_die(
        &mut self,
        txn: &mut Txn,
        extra_cycles: u32,
        reprogrammed: Option<u8>,
        now: SimTime,
    ) -> bool {
        let first = !txn.is(Txn::JUDGED);
        let (drawn, page, step) = self.sense(txn, extra_cycles, reprogrammed, now, first);
        if first {
            self.count_first(&drawn, &page);
        }
        let fails = drawn.worst > self.ecc.capability || txn.is(Txn::LOST);
        txn.put(Txn::FAILS, fails);
        txn.set(Txn::JUDGED);
        txn.set_attempts(step, 0, drawn.worst);
        let on_die = self.ecc.retry.on_die().expect("dies judge what they sense");
        on_die.predicts_failure(fails, self.model.chance(&page))
    }

    /// A die repeats a sensing, or not, as it has predicted: counts the prediction and moves on to the offsets of the repetition.
    pub(super) fn predicted(&mut self, txn: &mut Txn, repeats: bool) {
        match (txn.is(Txn::FAILS), repeats) {
            (true, true) => self.counters.avoided_transfers += 1,
            (true, false) => self.counters.on_die_missed += 1,
            (false, true) => self.counters.on_die_needless += 1,
            (false, false) => {}
        }
        if repeats {
            self.counters.on_die_sensings += 1;
            let on_die = self.ecc.retry.on_die().expect("dies predict");
            txn.set_attempts(on_die.step_after(txn.first_step(), self.model.attempts()), 0, 0);
        }
    }

    /// Decode latency of a read whose ECC outcome was decided before its data moved.
    #[cold]
    pub(super) fn known_latency(&self, txn: &mut Txn) -> Duration {
        if txn.is(Txn::BUFFERED) {
            return self.latency_without_errors();
        }
        txn.put(Txn::JUDGED, false);
        self.latency_of(txn.errors())
    }

    #[inline(always)]
    fn latency_of(&self, errors: u32) -> Duration {
        self.latencies[(errors as usize).min(self.latencies.len() - 1)]
    }

    /// Counts a read by its first sensing.
    #[inline(always)]
    fn count_first(&mut self, drawn: &ErrorSample, page: &Page) {
        let codewords = u64::from(page.units * self.model.codewords_per_unit());
        self.counters.reads += 1;
        self.counters.bits += codewords * u64::from(self.model.codeword_bits());
        self.counters.expected_errors += codewords * u64::from(drawn.mean);
    }

    /// Errors of a sensing of `txn`, with its page and the first attempt of the read.
    #[inline(always)]
    fn sense(
        &mut self,
        txn: &mut Txn,
        extra_cycles: u32,
        reprogrammed: Option<u8>,
        now: SimTime,
        first: bool,
    ) -> (ErrorSample, Page, u8) {
        self.disturb_beside(txn.block_on(txn.plane.into()), 1);
        let state = self.blocks.get_mut(txn.block_on(txn.plane.into()));
        state.reads = state.reads.saturating_add(1);
        if let Some(limit) = self.reclaim_reads
            && state.reads >= limit
            && (state.reads - limit).is_multiple_of(REMINDER)
        {
            txn.set(Txn::WORN_BY_READS);
        }
        let state = *state;
        let first_step = match (first, self.ecc.predict) {
            (true, true) => state.last_step,
            (true, false) => 0,
            (false, _) => txn.first_step(),
        };
        let page = Page {
            address: PageAddress { of: txn.block_on(txn.plane.into()), page: txn.page },
            attempt: u32::from(first_step) + u32::from(txn.attempt()),
            units: txn.units(),
            sensing: txn.seq,
        };
        let age = self.blocks.age(&state, now);
        let model = reprogrammed.map_or(&self.model, |count| &self.reprogrammed[usize::from(count)]);
        let own = model.ln_rber(&state, extra_cycles, age, &page);
        let ln = self.blocks.carried(page.address).map_or(own, |carried| model.sum(own, carried));
        (model.draw(ln, &page), page, first_step)
    }

    /// All retry steps of a page have failed: counts the codewords beyond soft decoding.
    #[cold]
    fn count_uncorrectable(&mut self, drawn: &ErrorSample, page: &Page) {
        let most = self.ecc.soft.last().map_or(self.ecc.capability, |s| s.capability);
        self.counters.uncorrectable_codewords += u64::from(self.model.uncorrectable(drawn, page, most));
    }

    /// Decides about stage `stage` of soft decoding, which works on the bits of the last retry step.
    pub(super) fn soft_decode_outcome(&mut self, txn: &mut Txn, stage: usize) -> Duration {
        let soft = self.ecc.soft[stage];
        self.counters.soft_decodes += 1;
        txn.put(Txn::FAILS, txn.errors() > soft.capability || txn.is(Txn::LOST));
        soft.latency
    }

    /// A read has ended `now`; `failed` if nothing has corrected it.
    #[inline]
    pub(super) fn read_done(&mut self, txn: &mut Txn, failed: bool, now: SimTime) {
        let further = usize::from(txn.attempt()).min(MOST_ATTEMPTS_COUNTED);
        self.by_attempts[further] += 1;
        let host = txn.kind.command().class == Class::HostRead;
        if txn.is_retry() {
            txn.own = now.as_ns() - txn.own;
            let (reads, time) = match host {
                true => (&mut self.counters.host_reads_retried, &mut self.counters.host_retry_time),
                false => (&mut self.counters.gc_reads_retried, &mut self.counters.gc_retry_time),
            };
            *reads += 1;
            *time += txn.own;
        }
        if failed {
            txn.set(Txn::UNCORRECTABLE);
            match host {
                true => self.counters.uncorrectable_host_reads += 1,
                false => self.counters.uncorrectable_gc_reads += 1,
            }
        } else if self.ecc.predict {
            let step = u32::from(txn.first_step()) + u32::from(txn.attempt()).min(self.ecc.max_retries);
            let step = step.min(self.model.attempts() - 1) as u8;
            self.blocks.get_mut(txn.block_on(txn.plane.into())).last_step = step;
        }
    }

    /// Decode latency of data without errors, such as what a page buffer still holds.
    pub(super) fn latency_without_errors(&self) -> Duration {
        self.latencies[0]
    }
}
