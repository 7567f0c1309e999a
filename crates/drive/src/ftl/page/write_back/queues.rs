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
    /// The drive, which has one list.
    One,
    /// Its lanes, with static striping.
    ByLane,
    /// Pages of a program, whose consecutive ones go to successive lanes (`ftl.allocation = "super-word-line"`).
    ByPage(SuperWordLine),
    /// Classes of data, which are hotness levels or placement handles, of the drive or of each lane.
    ByClass(Box<HotnessQueues>),
    /// Sizes of writes, before an SLC cache, of the drive or of each lane.
    BySize(SlcLists),
}

pub(crate) struct WriteBack {
    /// Fixed lane of each unit, with static striping.
    pub(crate) stripe: Option<Stripe>,
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
        units_per_program: u32,
        lists: u32,
        slots: u32,
    ) -> WriteBack {
        let through = spec.cache.acknowledge.waits_for_programs();
        WriteBack {
            stripe,
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

    /// Fixed lane of `lpn`, with static striping; otherwise the first one.
    #[inline]
    pub(crate) fn lane_of(&self, lpn: Lpn) -> usize {
        self.stripe.as_ref().map_or(0, |stripe| stripe.lane(lpn).index())
    }

    #[inline]
    pub(crate) fn set_full(&mut self, list: usize) {
        self.full_lists[list / 64] |= 1 << (list % 64);
    }
}
