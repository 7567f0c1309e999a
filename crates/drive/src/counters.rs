//! Counters of the host interface, the write cache and the read cache.

use interpulse_engine::{Op, OpClass, counters};

counters! {
    /// Counters of the host interface, the write cache and the read cache.
    pub struct DriveCounters {
        /// units read from the write cache
        cache_read_hits: "units",
        /// time for which data of commands occupied the bus of the DRAM (section [dram])
        dram_busy_time: "ns",
        /// firmware time of map look-ups, of all cores (firmware.mapping-time)
        firmware_mapping_time: "ns",
        /// firmware time of units that collection moves, of all cores (firmware.collection-time)
        firmware_collection_time: "ns",
        /// firmware time of ranges that deallocations free, of all cores (firmware.deallocation-time)
        firmware_deallocation_time: "ns",
        /// units read of which the read cache held a copy
        read_cache_hits: "units",
        /// units read that another read, or read-ahead, was already fetching from flash for the read cache
        read_cache_merged: "units",
        /// units read from flash because the read cache held no copy
        read_cache_misses: "units",
        /// units that read-ahead read from flash
        read_ahead_units: "units",
        /// of these, units that the host then read from the read cache
        read_ahead_used: "units",
        /// of these, units that left the read cache before the host read them: evicted, overwritten, trimmed or uncorrectable
        read_ahead_wasted: "units",
        /// units read that were never written
        unmapped_reads: "units",
        /// units overwritten in the write cache before they were programmed
        cache_overwrites: "units",
        /// writes that had to wait for a free slot of the write cache
        cache_stalls: "requests",
        /// page reads made to complete writes that partly cover a unit
        read_modify_writes: "operations",
        /// logical units trimmed
        trimmed_units: "units",
        /// logical units that Write Zeroes deallocated
        zeroed_units_deallocated: "units",
        /// logical units that Write Zeroes wrote as data
        zeroed_units_written: "units",
        /// requests with more data than host.max-transfer, which the host split
        split_requests: "requests",
        /// commands of these requests
        split_commands: "commands",
        /// Abort commands of the host (host.abort-limit)
        aborts: "commands",
        /// commands that an Abort command ended before they were executed
        commands_aborted: "commands",
        /// commands beyond the timeout for which host.abort-limit allowed no Abort command yet
        aborts_postponed: "commands",
        /// time in deterministic windows of all drives (section [predictable-latency])
        dtwin_time: "ns",
        /// time in non-deterministic windows of all drives
        ndwin_time: "ns",
        /// deterministic windows that ended early, because a write or a flush needed a program
        dtwin_excursions: "windows",
        /// programs, erases and reads of garbage collection that waited for the end of a deterministic window
        dtwin_held_operations: "operations",
        /// units that waited in the write cache at the ends of deterministic windows
        dtwin_held_units: "units",
        /// reads and comparisons that took longer than host.command-timeout, those still outstanding at the end included
        command_timeouts_read: "requests",
        /// writes that took longer than host.command-timeout, those still outstanding at the end included
        command_timeouts_write: "requests",
        /// trims, zeros, flushes and zone management that took longer than host.command-timeout, likewise
        command_timeouts_other: "requests",
    }
}

impl DriveCounters {
    /// Counts a command that took, or has been outstanding, longer than the host's timeout.
    #[cold]
    pub fn timed_out(&mut self, op: Op) {
        *match op.class() {
            OpClass::Read => &mut self.command_timeouts_read,
            OpClass::Write => &mut self.command_timeouts_write,
            OpClass::Other => &mut self.command_timeouts_other,
        } += 1;
    }
}
