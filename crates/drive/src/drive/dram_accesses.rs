//! Accesses of commands to the DRAM: latency of the cache, and the bus of a drive whose memory has timing.

use super::Drive;
use interpulse_engine::{EventQueue, Op, RequestId, SimTime};

impl Drive {
    /// Moves data of `id` to or from the cache; then sends `bytes` of it and the completion.
    #[inline(always)]
    pub(super) fn pass_dram(&mut self, events: &mut EventQueue, id: RequestId, bytes: u64) {
        let now = events.now();
        let crossed = if self.dram.is_some() { self.cross_dram_bus(now, id) } else { now };
        self.host.pass_dram(events, crossed + self.spec.cache.latency, id, bytes);
    }

    /// Moves data of `id` over the bus; returns when it has crossed.
    #[cold]
    #[inline(never)]
    fn cross_dram_bus(&mut self, now: SimTime, id: RequestId) -> SimTime {
        let Some(dram) = self.dram.as_mut() else { return now };
        let request = self.host.requests.get(id);
        let bytes = if request.op == Op::WriteZeroes { 0 } else { request.bytes };
        let (at, mut takes) = dram.access(now, bytes);
        if request.op == Op::Write {
            // Write-back reads the data again later; nothing waits for the bus then, so its time is taken at once.
            takes += dram.access(now, bytes).1;
        }
        self.counters.dram_busy_time += takes.as_ns();
        at
    }
}
