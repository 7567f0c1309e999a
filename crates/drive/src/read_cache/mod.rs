//! Read cache: DRAM copies of units that were read from flash, filled by host reads, by read-ahead or also by writes.
//!
//! ```text
//! read -- hit ------------------------------------------------> DRAM
//!     \-- in flight: waits for the fill that reads the unit --/
//!     \-- miss: page reads, a fill of the request -> cached
//! write, trim -> the copy is dropped or replaced; a fill in flight caches nothing of it
//! ```
//!
//! A unit has at most one copy. Its slot belongs to the partition of the queue that filled it; any queue may hit it.

pub mod read_ahead;
pub mod spec;
mod units;

use crate::counters::DriveCounters;
use crate::numbers::{FillId, Lpn};
use interpulse_engine::{RequestId, Slab};
use read_ahead::ReadAhead;
use spec::{Partitioning, ReadCacheSpec};
use units::Units;

/// Reads from flash whose units will be cached, of a request or of read-ahead.
#[derive(Clone, Debug, Default)]
struct Fill {
    /// Slots reserved for its units.
    slots: Vec<u32>,
    /// Requests that wait for it besides its own.
    waiters: Vec<RequestId>,
    /// Page reads outstanding, of a fill of read-ahead.
    reads: u32,
    /// Some of its data is uncorrectable.
    failed: bool,
}

/// Result of a look-up of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// A copy of this version.
    Hit(u32),
    /// It is being read by this fill.
    InFlight(FillId),
    /// No copy.
    Absent,
}

/// No fill.
const NONE: u32 = u32::MAX;

/// Read cache of a drive.
pub struct ReadCache {
    spec: ReadCacheSpec,
    units: Units,
    fills: Slab<FillId, Fill>,
    /// Fill of each request, or [`NONE`]; grows as needed.
    of_request: Vec<u32>,
    pub(crate) ahead: Option<ReadAhead>,
}

impl ReadCache {
    /// Empty cache of a drive of `logical` units of `unit_bytes` and `queues` queue pairs.
    pub fn new(spec: &ReadCacheSpec, logical: u32, unit_bytes: u64, queues: usize) -> ReadCache {
        let partitions = spec.partitions(queues) as u32;
        let slots = (spec.size.get() / unit_bytes).min(u64::from(logical)) as u32;
        ReadCache {
            spec: *spec,
            units: Units::new(spec.replacement.policy(), logical, slots / partitions, partitions),
            fills: Slab::default(),
            of_request: Vec::new(),
            ahead: spec.ahead.map(|of| ReadAhead::new(&of, unit_bytes, logical)),
        }
    }

    fn partition(&self, queue: u16) -> u32 {
        match self.spec.partition {
            Partitioning::Shared => 0,
            Partitioning::ByQueue => u32::from(queue),
        }
    }

    /// Looks `lpn` up and notes the use.
    pub fn look_up(&mut self, counters: &mut DriveCounters, lpn: Lpn) -> Cached {
        let Some(slot) = self.units.find(lpn) else { return Cached::Absent };
        counters.read_ahead_used += u64::from(self.units.first_use(slot));
        match self.units.fill(slot) {
            None => {
                self.units.touch(slot);
                counters.read_cache_hits += 1;
                Cached::Hit(self.units.version(slot))
            }
            Some(fill) => {
                counters.read_cache_merged += 1;
                Cached::InFlight(fill)
            }
        }
    }

    /// Whether all units of `from..to` have copies. Notes no use.
    pub fn holds(&self, from: Lpn, to: Lpn) -> bool {
        from.until(to).all(|lpn| self.units.find(lpn).is_some_and(|slot| self.units.fill(slot).is_none()))
    }

    /// Whether a copy of `lpn` exists or is being read.
    pub fn has(&self, lpn: Lpn) -> bool {
        self.units.find(lpn).is_some()
    }

    /// Makes request `id` wait for `fill`; false if it waits already.
    pub fn wait(&mut self, fill: FillId, id: RequestId) -> bool {
        let waiters = &mut self.fills.get_mut(fill).waiters;
        let new = !waiters.contains(&id);
        if new {
            waiters.push(id);
        }
        new
    }

    /// The fill of request `id`, which reads from flash.
    pub fn fill_of(&mut self, id: RequestId) -> FillId {
        if self.of_request.len() <= id.index() {
            self.of_request.resize(id.index() + 1, NONE);
        }
        if self.of_request[id.index()] == NONE {
            self.of_request[id.index()] = self.fills.insert(Fill::default()).0;
        }
        FillId(self.of_request[id.index()])
    }

    /// Takes the fill of request `id`, which has read its units.
    pub fn take_fill_of(&mut self, id: RequestId) -> Option<FillId> {
        let fill = self.of_request.get_mut(id.index())?;
        let fill = std::mem::replace(fill, NONE);
        (fill != NONE).then_some(FillId(fill))
    }

    /// Begins a fill of read-ahead.
    pub fn begin_ahead(&mut self) -> FillId {
        self.fills.insert(Fill::default())
    }

    /// Sets the page reads that a fill of read-ahead waits for; without any it ends.
    pub fn set_reads(&mut self, fill: FillId, reads: u32) {
        self.fills.get_mut(fill).reads = reads;
        if reads == 0 {
            self.fills.remove(fill);
        }
    }

    /// Completes a page read of a fill of read-ahead; true if it was the last one.
    pub fn page_read(&mut self, fill: FillId, failed: bool) -> bool {
        let of = self.fills.get_mut(fill);
        of.reads -= 1;
        of.failed |= failed;
        of.reads == 0
    }

    /// Whether a page read of `fill` was uncorrectable.
    pub fn has_failed(&self, fill: FillId) -> bool {
        self.fills.get(fill).failed
    }

    /// Reserves a slot for `lpn`, without a copy, which `fill` reads for `queue`; false if every slot of the partition is
    /// reserved.
    pub fn reserve(
        &mut self,
        counters: &mut DriveCounters,
        queue: u16,
        lpn: Lpn,
        version: u32,
        fill: FillId,
        ahead: bool,
    ) -> bool {
        let partition = self.partition(queue);
        let slot = self.units.reserve(partition, lpn, version, fill, ahead, &mut counters.read_ahead_wasted);
        let Some(slot) = slot else { return false };
        self.fills.get_mut(fill).slots.push(slot);
        counters.read_ahead_units += u64::from(ahead);
        true
    }

    /// Ends `fill`: its units are cached unless it `failed` or they changed meanwhile. Appends the requests that waited.
    pub fn end(
        &mut self,
        counters: &mut DriveCounters,
        fill: FillId,
        failed: bool,
        waiters: &mut Vec<RequestId>,
    ) {
        let of = self.fills.remove(fill);
        for slot in of.slots {
            self.units.filled(slot, failed, &mut counters.read_ahead_wasted);
        }
        waiters.extend(of.waiters);
    }

    /// Drops the copies of `from..to`, which were written or trimmed.
    pub fn invalidate(&mut self, counters: &mut DriveCounters, from: Lpn, to: Lpn) {
        from.until(to).for_each(|lpn| self.units.drop_copy(lpn, &mut counters.read_ahead_wasted));
    }

    /// Notes that `queue` has written `version` of `lpn`: its copy is replaced or dropped.
    pub fn written(&mut self, counters: &mut DriveCounters, queue: u16, lpn: Lpn, version: u32) {
        self.units.drop_copy(lpn, &mut counters.read_ahead_wasted);
        if self.spec.fill_on_write {
            let partition = self.partition(queue);
            self.units.insert(partition, lpn, version, &mut counters.read_ahead_wasted);
        }
    }

    /// First inconsistency: of slots and orders, or of a copy whose version `newest` of its unit denies.
    pub fn audit(&self, newest: impl Fn(Lpn) -> Option<u32>) -> Result<(), String> {
        self.units.audit(newest)
    }
}
