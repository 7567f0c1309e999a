//! Reads through the read cache: hits, reads in flight that several requests wait for, misses, read-ahead.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use crate::numbers::{FillId, Lpn};
use crate::owner::Owner;
use crate::read_cache::Cached;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, RequestId, Status};
use interpulse_flash::nand::flow_order::Rank;

impl Drive {
    /// Serves the read `id` from copies if the read cache holds all of its units: its map entries are not looked up.
    #[inline(never)]
    pub(super) fn reads_copies(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let request = self.host.requests.get(id);
        let (from, to, bytes) = (request.lpn, request.lpn + request.units, request.bytes);
        let all = self.read_cache.as_ref().is_some_and(|cache| cache.holds(from, to));
        if all {
            let reads = self.read_through(events, id, from, to);
            debug_assert_eq!(reads, 0);
            self.pass_dram(events, id, bytes);
        }
        all
    }

    /// Reads the units `from..to` for request `id`; returns how many page reads and fills it waits for.
    #[inline(never)]
    pub(super) fn read_through(&mut self, events: &mut EventQueue, id: RequestId, from: Lpn, to: Lpn) -> u32 {
        let request = self.host.requests.get(id);
        let (queue, op) = (request.queue, request.op);
        let Drive { read_cache, ftl, nand, counters, closed, .. } = self;
        let cache = read_cache.as_mut().expect("the caller has checked it");
        let (mut waits, mut absent) = (0, from);
        for lpn in from.until(to + 1) {
            let found = if lpn < to { cache.look_up(counters, lpn) } else { Cached::Hit(0) };
            if found == Cached::Absent {
                if let Some(version) = ftl.version_on_flash(lpn) {
                    counters.read_cache_misses += 1;
                    let fill = cache.fill_of(id);
                    cache.reserve(counters, queue, lpn, version, fill, false);
                }
                continue;
            }
            if absent < lpn {
                let mut flash = Flash { nand, events };
                let missed = ftl.read(&mut flash, Owner::Host(id).into(), absent, lpn, false);
                counters.cache_read_hits += u64::from(missed.cached);
                counters.unmapped_reads += u64::from(missed.unmapped);
                waits += missed.reads;
            }
            absent = lpn + 1;
            match found {
                Cached::Hit(version) if lpn < to => ftl.check_version(lpn, version),
                Cached::InFlight(fill) => waits += u32::from(cache.wait(fill, id)),
                _ => {}
            }
        }
        if op == interpulse_engine::Op::Read
            && !*closed
            && let Some(ahead) = &mut cache.ahead
        {
            ahead.note(queue, from, to);
            self.read_ahead(events);
        }
        waits
    }

    /// Reads ahead as far as windows and depth allow.
    fn read_ahead(&mut self, events: &mut EventQueue) {
        let page = self.spec.geometry.units_per_page;
        let Drive { read_cache, ftl, nand, counters, .. } = self;
        let Some(cache) = read_cache.as_mut() else { return };
        while let Some(chunk) = cache.ahead.as_mut().and_then(|ahead| ahead.next(page)) {
            let fill = cache.begin_ahead();
            nand.set_rank(Rank::LOW);
            let (mut reads, mut run) = (0, chunk.from);
            for lpn in chunk.from.until(chunk.to + 1) {
                let wanted = lpn < chunk.to && !cache.has(lpn);
                let version = if wanted { ftl.version_on_flash(lpn) } else { None };
                if version
                    .is_some_and(|version| cache.reserve(counters, chunk.queue, lpn, version, fill, true))
                {
                    continue;
                }
                if run < lpn {
                    let owner = Owner::ReadAhead(fill).into();
                    reads += ftl.read(&mut Flash { nand, events }, owner, run, lpn, false).reads;
                }
                run = lpn + 1;
            }
            cache.set_reads(fill, reads);
            if let (true, Some(ahead)) = (reads > 0, &mut cache.ahead) {
                ahead.in_flight += 1;
            }
        }
    }

    /// Completes a page read of a fill of read-ahead; `failed` if its data is uncorrectable.
    #[inline(never)]
    pub(super) fn ahead_read_done(&mut self, events: &mut EventQueue, fill: FillId, failed: bool) {
        let cache = self.read_cache.as_mut().expect("a read cache reads ahead");
        if !cache.page_read(fill, failed) {
            return;
        }
        let failed = cache.has_failed(fill);
        if let Some(ahead) = &mut cache.ahead {
            ahead.in_flight -= 1;
        }
        self.end_fill(events, fill, failed);
        if !self.closed {
            self.read_ahead(events);
        }
    }

    /// Ends the fill of request `id`, if it has one: all its page reads have ended.
    #[inline(never)]
    pub(super) fn end_fill_of(&mut self, events: &mut EventQueue, id: RequestId) {
        let failed = self.host.requests.get(id).status == Status::UnrecoveredReadError;
        if let Some(fill) = self.read_cache.as_mut().and_then(|cache| cache.take_fill_of(id)) {
            self.end_fill(events, fill, failed);
        }
    }

    /// Ends a fill; requests that waited for it alone continue, which may end their own fills.
    fn end_fill(&mut self, events: &mut EventQueue, fill: FillId, failed: bool) {
        let now = events.now();
        let mut ended = vec![(fill, failed)];
        let mut waiters = Vec::new();
        while let Some((fill, failed)) = ended.pop() {
            let cache = self.read_cache.as_mut().expect("a read cache has fills");
            cache.end(&mut self.counters, fill, failed, &mut waiters);
            for id in waiters.drain(..) {
                let request = self.host.requests.get_mut(id);
                if failed {
                    request.status = Status::UnrecoveredReadError;
                }
                if request.reads_left > 1 {
                    request.reads_left -= 1;
                    continue;
                }
                request.reads_left = 0;
                request.book(Cause::ReadCache, now);
                let (op, bytes, failed) =
                    (request.op, request.bytes, request.status == Status::UnrecoveredReadError);
                let cache = self.read_cache.as_mut().expect("a read cache has fills");
                if let Some(own) = cache.take_fill_of(id) {
                    ended.push((own, failed));
                }
                self.data_ready(events, now, id, op, bytes);
            }
        }
    }

    /// Notes that `queue` has written the units `from..to`: copies are dropped or replaced.
    #[inline(never)]
    pub(super) fn cache_written(&mut self, queue: u16, from: Lpn, to: Lpn) {
        let Drive { read_cache, ftl, counters, .. } = self;
        let Some(cache) = read_cache.as_mut() else { return };
        for lpn in from.until(to) {
            let version = ftl.version(lpn).expect("the unit was written");
            cache.written(counters, queue, lpn, version);
        }
    }
}
