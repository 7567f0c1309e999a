//! FTL counters.

use interpulse_engine::counters;

counters! {
    /// Counters of the FTL.
    pub struct FtlCounters {
        /// units written by the host and programmed
        host_units: "units",
        /// units moved by garbage collection and programmed
        gc_units: "units",
        /// of these, units moved by copyback
        copyback_units: "units",
        /// whole pages moved through the controller all the same: at the limit of copybacks, left over, or overwritten meanwhile
        copyback_fallbacks: "pages",
        /// units of programs that carried no data (flushes of partial word lines, failed programs)
        padding_units: "units",
        /// extra units programmed for synthetic write amplification
        imposed_units: "units",
        /// victims chosen
        gc_runs: "blocks",
        /// of these, victims without valid units
        direct_gc_runs: "blocks",
        /// super blocks erased
        erases: "blocks",
        /// victims chosen for static wear levelling
        leveled_blocks: "blocks",
        /// units written by reprograms, which take no new space
        reprogrammed_units: "units",
        /// units moved from candidates to normal blocks along with host data ("fully invalidated" writes)
        moved_early_units: "units",
        /// pages of erased word lines taken by host data, three of a word line or two if it is reprogrammable
        consumed_host_pages: "pages",
        /// pages of erased word lines taken by garbage collection
        consumed_gc_pages: "pages",
        /// pages of erased word lines taken by units moved from candidates
        consumed_early_pages: "pages",
        /// reprogrammable blocks opened
        reprogrammable_blocks: "blocks",
        /// reprogrammable blocks set aside as candidates because all their pages were in use
        candidates: "blocks",
        /// of these, blocks reactivated because one of their pages was overwritten
        candidates_back: "blocks",
        /// of these, blocks whose data was moved to normal blocks
        candidates_reclaimed: "blocks",
        /// of these, blocks released to garbage collection
        candidates_given_up: "blocks",
        /// reprograms still possible when a super layer was left
        lost_reprograms: "operations",
        /// look-ups in the mapping cache: one for each translation page that a command touches
        map_lookups: "look-ups",
        /// of these, look-ups whose entries were in memory
        map_hits: "look-ups",
        /// translation pages read for look-ups
        map_reads: "pages",
        /// translation pages read ahead
        map_prefetches: "pages",
        /// translation pages read to be completed before their program
        map_update_reads: "pages",
        /// look-ups that waited for room in the write-back buffer of the map
        map_stalls: "look-ups",
        /// map entries changed by programs, garbage collection and trims
        map_updates: "entries",
        /// translation pages programmed by write-back
        map_units: "pages",
        /// translation pages moved by garbage collection
        map_gc_units: "pages",
        /// program operations of translation pages
        map_programs: "operations",
        /// victims that held translation pages
        map_gc_runs: "blocks",
        /// pages of erased word lines taken by translation pages of write-back
        map_consumed_pages: "pages",
    }
}

impl FtlCounters {
    /// Units programmed, for any reason.
    pub fn programmed(&self) -> u64 {
        self.host_units
            + self.gc_units
            + self.moved_early_units
            + self.imposed_units
            + self.padding_units
            + self.map_units
            + self.map_gc_units
    }

    /// Units programmed per host unit written; `None` if the host wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_units > 0).then(|| self.programmed() as f64 / self.host_units as f64)
    }
}
