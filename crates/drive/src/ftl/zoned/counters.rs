//! Counters of zones.

use interpulse_engine::counters;

counters! {
    /// Counters of zones.
    pub struct ZoneCounters {
        /// zones reset that held data
        resets: "zones",
        /// zones finished before they were full
        finishes: "zones",
        /// zone appends executed
        appends: "requests",
        /// writes at the write pointer executed
        writes: "requests",
        /// zone management commands executed
        commands: "requests",
        /// units of writes that a reset of their zone overtook before their data arrived
        discarded_units: "units",
        /// zones that the drive closed because another one needed the open resource
        closed_by_drive: "zones",
        /// times that the data of a zone waited for an erased block
        erase_waits: "events",
    }
}
