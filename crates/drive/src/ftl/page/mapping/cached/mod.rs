//! Mapping cache (DFTL: Gupta, Kim and Urgaonkar, ASPLOS 2009; record 34).
//!
//! ```text
//! look-up -- hit ---------------------------------------> command continues
//!     \-- miss -> read of the translation page -> insert -> evict -- clean -> nothing
//!                                                             \-- changed -> write-back buffer
//! host program, collection, trim -> changed entry: cached -> marked; else -> write-back buffer
//! write-back buffer: a batch gathers -> reads of pages not in memory -> programs of the stream `map`
//! ```
//!
//! The mapping tables are always correct; the cache decides what a look-up costs and what is written. Translation page `k`
//! is unit `logical units + k` of these tables, whose end is thus the directory (GTD) of DFTL.

mod audit;
mod checkpoint_flush;
pub(in crate::ftl::page) mod collection;
mod flush_state;
pub mod format;
mod look_up;
mod residents;
pub mod spec;
mod write_back;

use crate::ftl::counters::FtlCounters;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::lookup::Lookup;
use crate::ftl::page::mapping::table::{Map, Where};
use crate::numbers::{Lane, Lpn};
use flush_state::{Flush, PageFlush};
use interpulse_engine::RequestId;
use residents::{Evicted, Residents};
use spec::{MapCacheSpec, MapPartition};
use std::collections::VecDeque;
use std::ops::Range;

/// No command.
const NOBODY: RequestId = RequestId(u32::MAX);

/// Progress of the changes of a translation page towards flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// The buffer holds none.
    #[default]
    Idle,
    /// They wait for a batch.
    Queued,
    /// The rest of the page is being read.
    Preparing,
    /// The whole page waits for its program.
    Ready,
    /// It is being programmed.
    Programming,
}

/// State of a translation page outside the cache.
#[derive(Clone, Copy, Debug)]
struct PageState {
    progress: Progress,
    /// The buffer holds the whole page, not only changed entries.
    whole: bool,
    /// Entries have changed since the program began; with `whole_again` the buffer holds the whole page again.
    again: bool,
    whole_again: bool,
    /// A read of the page is in flight.
    reading: bool,
    /// That read is for the cache though no command waits.
    prefetching: bool,
    /// Part of the cache that a prefetch is for.
    part: u16,
    /// Bytes of the write-back buffer that it takes.
    bytes: u32,
    /// First command that waits for the read.
    first: RequestId,
    /// Progress towards the checkpoint that is being made.
    flush: PageFlush,
}

const IDLE: PageState = PageState {
    progress: Progress::Idle,
    whole: false,
    again: false,
    whole_again: false,
    reading: false,
    prefetching: false,
    part: 0,
    bytes: 0,
    first: NOBODY,
    flush: PageFlush::None,
};

/// Command that waits for a translation page.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    page: u32,
    queue: u16,
    /// Units of the command on that page.
    from: Lpn,
    to: Lpn,
    /// Next command that waits for the page.
    next: RequestId,
}

/// Command that continues its look-up.
#[derive(Clone, Copy, Debug)]
struct Resumed {
    tag: RequestId,
    page: u32,
    /// The look-up of `page` has been counted.
    counted: bool,
}

/// Translation pages on their way to flash.
#[derive(Clone, Debug, Default)]
struct WriteBuffer {
    /// Pages that waited for a batch when they were added; those no longer [`Progress::Queued`] are passed over.
    queued: VecDeque<u32>,
    /// Pages that wait for a batch.
    waiting: u32,
    preparing: u32,
    ready: VecDeque<u32>,
    programming: u32,
    /// Bytes of memory taken: pages, and changed entries of others.
    bytes: u64,
    next_lane: Lane,
}

/// Mapping cache of a drive.
pub struct CachedMap {
    spec: MapCacheSpec,
    /// Units of the host; translation pages follow.
    logical: u32,
    /// Entries of a translation page as a power of two, and of an object.
    page_shift: u32,
    object_shift: u32,
    page_bytes: u32,
    batch: u32,
    residents: Residents,
    /// Each queue has a part of the cache.
    by_queue: bool,
    /// Look-ups and hits of each queue, if there are several.
    lookups: Vec<[u64; 2]>,
    pages: Vec<PageState>,
    /// By request; grows as needed.
    waiting: Vec<Waiting>,
    /// Commands that wait for room in the write-back buffer.
    stalled: VecDeque<RequestId>,
    /// Commands about to continue, in order.
    resumed: VecDeque<Resumed>,
    buffer: WriteBuffer,
    /// Units whose entries a program is about to change.
    changing: Vec<Lpn>,
    evicted: Vec<Evicted>,
    flush: Flush,
}

impl CachedMap {
    /// Empty cache of a drive whose host units are `blocks.config().logical_units` of `unit` bytes.
    pub(crate) fn new(spec: &MapCacheSpec, blocks: &BlockManager, unit: u64, queues: usize) -> CachedMap {
        let config = blocks.config();
        let page_bytes = unit as u32;
        let page_shift = (page_bytes / format::ENTRY_BYTES).ilog2();
        let by_entry = spec.format.holds_entries();
        let (object_shift, objects) =
            if by_entry { (0, config.logical_units) } else { (page_shift, config.translation_pages) };
        let least = spec.format.least(page_bytes);
        CachedMap {
            spec: spec.clone(),
            logical: config.logical_units,
            page_shift,
            object_shift,
            page_bytes,
            batch: spec.batch(blocks.layout.units_per_program),
            residents: Residents::new(
                spec.replacement,
                objects,
                least,
                &spec.partition.parts(spec.size, queues),
            ),
            by_queue: spec.partition != MapPartition::Shared,
            lookups: if queues > 1 { vec![[0; 2]; queues] } else { Vec::new() },
            pages: vec![IDLE; config.translation_pages as usize],
            waiting: Vec::new(),
            stalled: VecDeque::new(),
            resumed: VecDeque::new(),
            buffer: WriteBuffer::default(),
            changing: Vec::new(),
            evicted: Vec::new(),
            flush: Flush::default(),
        }
    }

    /// Unit of the tables for translation page `page`.
    fn unit(&self, page: u32) -> Lpn {
        Lpn(self.logical + page)
    }

    fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 >> self.page_shift
    }

    /// Host units whose entries are on `page`.
    fn entries_of(&self, page: u32) -> Range<Lpn> {
        let first = page << self.page_shift;
        Lpn(first)..Lpn(first.saturating_add(1 << self.page_shift).min(self.logical))
    }

    /// Whether the write-back buffer takes its memory. Collection may exceed it, since nothing else frees space.
    fn is_full(&self) -> bool {
        self.buffer.bytes >= 2 * u64::from(self.batch) * u64::from(self.page_bytes)
    }

    /// Sets the bytes of the write-back buffer that `page` takes.
    fn set_buffered(&mut self, page: u32, bytes: u32) {
        let of = &mut self.pages[page as usize];
        self.buffer.bytes = self.buffer.bytes - u64::from(of.bytes) + u64::from(bytes);
        of.bytes = bytes;
    }

    /// Whether `page` has been written to flash.
    fn is_on_flash(&self, map: &Map, page: u32) -> bool {
        map.get(self.unit(page)) != Where::Unmapped
    }

    /// Whether the buffer holds all entries of `page`.
    fn buffers_whole(&self, map: &Map, page: u32) -> bool {
        let of = self.pages[page as usize];
        match of.progress {
            Progress::Idle | Progress::Preparing => false,
            Progress::Queued => of.whole || !self.is_on_flash(map, page),
            Progress::Ready | Progress::Programming => true,
        }
    }

    // ---- look-ups -------------------------------------------------------------------------------------------

    /// Part of the cache for what `queue` looks up.
    fn part(&self, queue: u16) -> u16 {
        if self.by_queue { queue } else { 0 }
    }

    /// Look-ups and hits of each queue; empty with one queue.
    pub(crate) fn lookups_by_queue(&self) -> &[[u64; 2]] {
        &self.lookups
    }

    #[inline]
    fn count(&mut self, counters: &mut FtlCounters, queue: u16, lookups: u64, hits: u64) {
        counters.map_lookups += lookups;
        counters.map_hits += hits;
        if let Some(of) = self.lookups.get_mut(usize::from(queue)) {
            of[0] += lookups;
            of[1] += hits;
        }
    }

    /// Looks up the entries of `units` from `lpn` for the command `tag` of `queue`.
    #[inline(always)]
    pub(super) fn look_up(
        &mut self,
        counters: &mut FtlCounters,
        map: &Map,
        tag: RequestId,
        queue: u16,
        lpn: Lpn,
        units: u32,
    ) -> Lookup {
        let object = lpn.0 >> self.object_shift;
        let one = object == (lpn.0 + units - 1) >> self.object_shift;
        if one && self.resumed.is_empty() && self.residents.look_up(object) {
            self.count(counters, queue, 1, 1);
            return Lookup::Hit;
        }
        self.look_up_pages(counters, map, tag, queue, lpn, lpn + units)
    }

    /// [`CachedMap::look_up`] of any number of pages; a command that waited continues where it was.
    #[cold]
    #[inline(never)]
    fn look_up_pages(
        &mut self,
        counters: &mut FtlCounters,
        map: &Map,
        tag: RequestId,
        queue: u16,
        from: Lpn,
        to: Lpn,
    ) -> Lookup {
        let (mut page, last) = (self.page_of(from), self.page_of(Lpn(to.0 - 1)));
        let mut counted = false;
        if let Some(&resumed) = self.resumed.front()
            && resumed.tag == tag
        {
            self.resumed.pop_front();
            (page, counted) = (resumed.page, resumed.counted);
        }
        while page <= last {
            let of = self.entries_of(page);
            let (from, to) = (from.max(of.start), to.min(of.end));
            let held = self.holds(map, self.part(queue), page, from, to);
            self.count(counters, queue, u64::from(!counted), u64::from(!counted && held));
            if !held {
                self.wait_for(tag, Waiting { page, queue, from, to, next: NOBODY });
                return Lookup::Miss(page);
            }
            counted = false;
            page += 1;
        }
        Lookup::Hit
    }

    fn wait_for(&mut self, tag: RequestId, waiting: Waiting) {
        if tag.index() >= self.waiting.len() {
            self.waiting.resize(tag.index() + 1, waiting);
        }
        self.waiting[tag.index()] = waiting;
    }

    /// Whether the entries `from..to` of `page` are in memory, or the page was never written. Notes the use.
    fn holds(&mut self, map: &Map, part: u16, page: u32, from: Lpn, to: Lpn) -> bool {
        let (first, last) = (from.0 >> self.object_shift, (to.0 - 1) >> self.object_shift);
        if (first..=last).all(|object| self.residents.holds(object)) {
            (first..=last).for_each(|object| {
                self.residents.look_up(object);
            });
            return true;
        }
        if self.buffers_whole(map, page) {
            self.keep(map, part, page, from, to);
            return true;
        }
        self.pages[page as usize].progress == Progress::Idle && !self.is_on_flash(map, page)
    }

    /// Inserts into `part` what a look-up of `from..to` keeps of `page`, which is in memory.
    fn keep(&mut self, map: &Map, part: u16, page: u32, from: Lpn, to: Lpn) {
        if self.spec.format.holds_entries() {
            let end = (to + self.spec.prefetch).min(self.entries_of(page).end);
            for lpn in from.until(end) {
                if !self.residents.holds(lpn.0) {
                    self.residents.insert(part, lpn.0, format::TAGGED_BYTES, false, &mut self.evicted);
                }
            }
        } else if !self.residents.holds(page) {
            // Changes that wait for a batch move back to the cache, unless a checkpoint needs them on flash.
            let of = &self.pages[page as usize];
            let queued = of.progress == Progress::Queued && of.flush == PageFlush::None;
            if queued {
                self.pages[page as usize].progress = Progress::Idle;
                self.buffer.waiting -= 1;
                self.set_buffered(page, 0);
            }
            let bytes = self.spec.format.bytes(map, self.entries_of(page), self.page_bytes);
            self.residents.insert(part, page, bytes, queued, &mut self.evicted);
        }
        self.buffer_evicted();
    }

    // ---- changes --------------------------------------------------------------------------------------------

    /// Notes that the entry of `lpn` has changed.
    fn change(&mut self, counters: &mut FtlCounters, map: &Map, lpn: Lpn) {
        counters.map_updates += 1;
        let (page, object) = (self.page_of(lpn), lpn.0 >> self.object_shift);
        let Some(changes) = self.residents.change(object) else {
            self.add(page, false);
            return;
        };
        let growth = self.spec.format.growth();
        if growth > 0 {
            let measured = changes >= MEASURE_AFTER;
            let bytes = if measured {
                self.spec.format.bytes(map, self.entries_of(page), self.page_bytes)
            } else {
                (self.residents.bytes(object) + growth).min(self.page_bytes)
            };
            self.residents.resize(object, bytes, measured, &mut self.evicted);
            self.buffer_evicted();
        }
    }

    /// Moves the changes of evicted objects to the write-back buffer.
    fn buffer_evicted(&mut self) {
        let by_entry = self.spec.format.holds_entries();
        while let Some(Evicted { object, dirty }) = self.evicted.pop() {
            if dirty {
                let page = if by_entry { self.page_of(Lpn(object)) } else { object };
                self.add(page, !by_entry);
            }
        }
    }

    /// Adds changes of `page` to the write-back buffer: the whole page, or entries.
    fn add(&mut self, page: u32, whole: bool) {
        let of = &mut self.pages[page as usize];
        let bytes =
            if whole { self.page_bytes } else { (of.bytes + format::TAGGED_BYTES).min(self.page_bytes) };
        match of.progress {
            Progress::Idle => {
                (of.progress, of.whole) = (Progress::Queued, whole);
                self.buffer.queued.push_back(page);
                self.buffer.waiting += 1;
                self.set_buffered(page, bytes);
            }
            Progress::Queued => {
                of.whole |= whole;
                self.set_buffered(page, bytes);
            }
            Progress::Preparing | Progress::Ready => {}
            Progress::Programming => {
                of.again = true;
                of.whole_again |= whole;
            }
        }
    }
}

/// Changed entries after which a compressed page is measured again.
const MEASURE_AFTER: u32 = 64;
