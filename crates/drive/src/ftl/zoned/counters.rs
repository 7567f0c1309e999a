//! Counters of zones.

use interpulse_engine::counters;

counters! {
    /// Counters of zones.
    pub struct ZoneCounters {
        /// zones reset that held data
        resets: "zones",
        /// zones finished before they were full
        finishes: "zones",
        /// programs of padding that filled finished zones
        filling_programs: "operations",
        /// zone appends executed
        appends: "requests",
        /// writes at the write pointer executed
        writes: "requests",
        /// of these, writes to zones with a random write area
        area_writes: "requests",
        /// units overwritten in the random write areas, before they were programmed
        area_overwritten_units: "units",
        /// commits of random write areas by the host
        explicit_commits: "requests",
        /// writes that moved the write pointer of a zone with a random write area
        implicit_commits: "requests",
        /// units of programs that the host had not written when the write pointer passed them
        unwritten_units: "units",
        /// zone management commands executed
        commands: "requests",
        /// units of writes that a reset of their zone overtook before their data arrived
        discarded_units: "units",
        /// vector commands of an Open-Channel drive that read
        vector_reads: "requests",
        /// vector commands that wrote
        vector_writes: "requests",
        /// vector commands that reset chunks
        vector_resets: "requests",
        /// addresses of all vector commands
        vector_addresses: "addresses",
        /// zones that the drive closed because another one needed the open resource
        closed_by_drive: "zones",
        /// super blocks of zones copied because they could not be continued
        repairs: "blocks",
        /// times that the data of a zone waited for an erased block
        erase_waits: "events",
    }
}
