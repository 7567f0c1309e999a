//! Write-back queues: dirty units, flushes, waiting writes.

use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::separation::queues::HotnessQueues;
use crate::ftl::page::slc::SlcLists;
use crate::ftl::page::write_back::super_word_line::SuperWordLine;
use crate::numbers::Lpn;
use crate::spec::DriveSpec;
use interpulse_engine::RequestId;
use std::collections::VecDeque;

/// Tag of the flush that ends a recovery; no request has it.
pub const REFILL: RequestId = RequestId(u32::MAX);

/// What the dirty lists of the write cache stand for.
pub(crate) enum HostLists {
    /// The drive, or with static striping its lanes.
    ByLane,
    /// Classes of data, which are hotness levels or placement handles, on each of these.
    ByClass(Box<HotnessQueues>),
    /// Sizes of writes, before an SLC cache.
    Cached(SlcLists),
}

pub(crate) struct WriteBack {
    /// Fixed lane of each unit, with static striping.
    pub(crate) stripe: Option<Stripe>,
    /// Gathers consecutive pages for successive lanes (`ftl.allocation = "super-word-line"`).
    pub(crate) super_word_line: Option<SuperWordLine>,
    /// Lists that hold a program's worth of dirty data, one bit each (static striping).
    pub(crate) full_lists: Vec<u64>,
    pub(crate) absorbs: bool,
    /// A lane takes one host program at a time, and units that arrive meanwhile form the next; otherwise every program
    /// queues at its die at once.
    pub(crate) holds_lanes: bool,
    /// Dirty units that make a program worth starting.
    pub(crate) worth_starting: u32,
    /// Write waiting for the program of each cache slot; empty if writes complete in the cache.
    pub(crate) writers: Vec<RequestId>,
    pub(crate) programs_in_flight: u32,
    /// Flushes waiting for their epoch, in order.
    pub(crate) flushes: VecDeque<(u32, RequestId)>,
    pub(crate) backpressure: bool,
}

impl WriteBack {
    pub(crate) fn new(
        spec: &DriveSpec,
        stripe: Option<Stripe>,
        super_word_line: Option<SuperWordLine>,
        units_per_program: u32,
        lists: u32,
        slots: u32,
    ) -> WriteBack {
        let through = spec.cache.acknowledge.waits_for_programs();
        WriteBack {
            stripe,
            super_word_line,
            full_lists: vec![0; lists.div_ceil(64) as usize],
            absorbs: spec.cache.acknowledge.absorbs(),
            holds_lanes: !through || spec.cache.is_absent(),
            worth_starting: if through { 1 } else { units_per_program },
            writers: if through { vec![RequestId::default(); slots as usize] } else { Vec::new() },
            programs_in_flight: 0,
            flushes: VecDeque::new(),
            backpressure: false,
        }
    }

    /// Whether writes wait for their programs (`cache.acknowledge = "when-programmed"`).
    #[inline]
    pub(crate) fn writes_through(&self) -> bool {
        !self.writers.is_empty()
    }

    pub(crate) fn lose_power(&mut self) {
        self.full_lists.fill(0);
        self.writers.fill(RequestId::default());
        self.flushes.clear();
        (self.programs_in_flight, self.backpressure) = (0, false);
    }

    /// Dirty list for a write to `lpn`.
    #[inline]
    pub(crate) fn list_of(&self, lpn: Lpn) -> usize {
        match (&self.stripe, &self.super_word_line) {
            (None, None) => 0,
            (Some(stripe), _) => stripe.lane(lpn).index(),
            (None, Some(of)) => of.list(),
        }
    }

    #[inline]
    pub(crate) fn set_full(&mut self, list: usize) {
        self.full_lists[list / 64] |= 1 << (list % 64);
    }
}
