//! Queues of commands where they matter beyond the host interface: writes wait for the part of the write cache that their queue or
//! namespace has, and host reads at a die have the class of their queue.

use super::Drive;
use crate::ftl::Ftl;
use interpulse_engine::{EventQueue, RequestId};
use interpulse_flash::nand::flow_order::Rank;

impl Drive {
    /// Part of the write cache that a write waits for: of its namespace, or of its queue.
    fn cache_part_of(&self, id: RequestId) -> usize {
        let request = self.host.requests.get(id);
        match self.namespaces() {
            Some(of) => of.namespace_of(request.lpn),
            None => usize::from(request.queue),
        }
    }

    /// Whether writes wait for the same part of the cache as write `id`.
    fn waits_in_part(&self, part: usize) -> bool {
        self.host.stalled.iter().any(|&other| self.cache_part_of(other) == part)
    }

    /// Whether writes wait for the cache that holds the data of write `id`.
    pub(super) fn waits_beside(&self, id: RequestId) -> bool {
        match self.namespaces() {
            Some(_) => self.waits_in_part(self.cache_part_of(id)),
            None => !self.host.stalled.is_empty(),
        }
    }

    /// As [`Drive::admit`] of a drive whose cache has parts, for which only their own writes wait.
    #[cold]
    #[inline(never)]
    pub(super) fn admit_in_part(&mut self, events: &mut EventQueue, id: RequestId) {
        if self.waits_in_part(self.cache_part_of(id)) || !self.admit_units(id) {
            self.counters.cache_stalls += 1;
            self.host.stalled.push_back(id);
            let lpn = self.host.requests.get(id).lpn;
            self.stalls_changed(lpn, true);
            self.leave_deterministic_window(events);
        } else {
            self.admitted(events, id);
        }
    }

    /// Admits stalled writes, part by part: a full part keeps no write of another waiting.
    #[cold]
    #[inline(never)]
    pub(super) fn room_in_parts(&mut self, events: &mut EventQueue) {
        let (mut k, mut full) = (0, Vec::new());
        while let Some(&id) = self.host.stalled.get(k) {
            let own = self.cache_part_of(id);
            if full.contains(&own) || !self.admit_units(id) {
                full.push(own);
                k += 1;
                continue;
            }
            self.host.stalled.remove(k);
            let lpn = self.host.requests.get(id).lpn;
            let waiting = self.waits_beside(id);
            self.stalls_changed(lpn, waiting);
            self.admitted(events, id);
        }
    }

    /// Gives the reads of command `id`, which follow, the class of its queue.
    #[inline]
    pub(super) fn rank_reads(&mut self, id: RequestId) {
        if self.nand.orders_by_class() {
            let queue = self.host.requests.get(id).queue;
            let classes = self.spec.host.classes.as_ref();
            self.nand.set_rank(classes.map_or(Rank::LOW, |of| of.rank_of(queue.into())));
        }
    }

    /// Names the queue of the units of write `id`, which are admitted next.
    pub(super) fn name_writer(&mut self, id: RequestId) {
        if self.spec.divides_cache() {
            let queue = self.host.requests.get(id).queue;
            if let Some(cache) = self.ftl.write_cache() {
                cache.set_writer(queue);
            }
        }
    }
}
