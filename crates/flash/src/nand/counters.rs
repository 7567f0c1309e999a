//! What the flash array counts.

use interpulse_engine::counters;

counters! {
    /// What the flash array did.
    pub struct NandCounters {
        /// page reads for the host (array sensings, a multi-plane read counts each plane)
        host_reads: "operations",
        /// page reads for garbage collection
        gc_reads: "operations",
        /// reads that were sensed along with a read of another plane, that one not counted
        multi_plane_reads: "operations",
        /// program operations with host data
        host_programs: "operations",
        /// program operations with moved data
        gc_programs: "operations",
        /// erase operations
        erases: "operations",
        /// suspensions of programs
        program_suspends: "operations",
        /// suspensions of erases
        erase_suspends: "operations",
        /// time programs and erases ran on between the request to stop and the stop
        stop_time: "ns",
        /// time spent entering suspensions
        entry_time: "ns",
        /// time spent leaving suspensions
        resume_time: "ns",
        /// program time that stops threw away and that was done again
        program_redone_time: "ns",
        /// erase time that stops threw away and that was done again
        erase_redone_time: "ns",
        /// stops refused because the operation had reached its maximum number of suspensions
        stops_refused_by_limit: "operations",
        /// time the channels were taken by commands, addresses and data
        bus_time: "ns",
    }
}
