//! Counters of the flash array.

use super::columns::Effect;
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
        /// programs that pulsed along with a program of another plane, that one not counted
        multi_plane_programs: "operations",
        /// program operations with host data
        host_programs: "operations",
        /// program operations with moved data
        gc_programs: "operations",
        /// of these two, programs of a word line as two bits per cell
        mlc_programs: "operations",
        /// of these two, reprograms of such a word line, each of which reads status and data first
        reprograms: "operations",
        /// of these two, copybacks: programs of pages that the die sensed itself
        copybacks: "operations",
        /// pages sensed for copybacks, those sensed again after a suspension included
        copyback_pages: "pages",
        /// of these two, second steps of word lines that are programmed in two
        second_steps: "operations",
        /// reads of a word line between its steps, served from the controller's buffer
        two_step_buffer_reads: "operations",
        /// programs that began with data in the cache register
        cached_programs: "operations",
        /// pages loaded into the cache register while a program pulsed
        cached_pages: "pages",
        /// of these, pages lost to a read or to an operation that came first, and sent again
        cached_pages_lost: "pages",
        /// reads whose data moved out of the cache register while the next was sensed
        cached_reads: "operations",
        /// erase operations
        erases: "operations",
        /// of these, erases that were one operation with that of another block, that one not counted
        multi_block_erases: "operations",
        /// written sub-blocks disturbed by the erase of another one of their block
        sub_block_disturbs: "blocks",
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
        /// suspensions of programs inside a suspended erase
        nested_suspends: "operations",
        /// slices of programs and erases that began without a suspension, first ones not counted
        slices: "operations",
        /// time spent commanding these slices
        slice_time: "ns",
        /// stops refused because of a limit: number, time or age of suspensions, time or loops left
        stops_refused_by_limit: "operations",
        /// stops refused because there was data in the cache register
        stops_refused_by_cache: "operations",
        /// stops put off because the operation had only just been resumed
        stops_put_off: "operations",
        /// time programs spent suspended, from the halt to pulses again
        program_suspended_time: "ns",
        /// time erases spent suspended, from the halt to pulses again
        erase_suspended_time: "ns",
        /// reads served while an operation was suspended
        reads_in_suspension: "operations",
        /// programs run while an erase was suspended
        programs_in_suspension: "operations",
        /// reads of a page being programmed, served from the page buffer without sensing
        page_buffer_reads: "operations",
        /// page buffers loaded again after a suspension
        reloads: "operations",
        /// die time of loading page buffers again, waiting for the bus included
        reload_time: "ns",
        /// bus time of loading page buffers again
        reload_bus_time: "ns",
        /// time that resumed pulses pulsed without progress
        ramp_time: "ns",
        /// loops that compensated resumes added to programs
        compensated_loops: "loops",
        /// pulse and verify time applied by programs, what is redone and ramps included
        program_pulse_time: "ns",
        /// pulse and verify time applied by erases, what is redone and ramps included
        erase_pulse_time: "ns",
        /// pulse and verify time of the further blocks of multi-block erases, at the same time as that of the first ones
        multi_block_pulse_time: "ns",
        /// pulse and verify time that the programs completed needed
        program_owed_time: "ns",
        /// pulse and verify time that the erases completed needed
        erase_owed_time: "ns",
        /// wear added by suspensions, summed over blocks
        suspend_stress: "10^-6 P/E cycles",
        /// times a die waited for a share of the power budget
        power_waits: "operations",
        /// time dies waited for a share of the power budget
        power_wait_time: "ns",
        /// time the channels were taken by data, and by commands and addresses without pins of their own
        bus_time: "ns",
    }
}

/// Counters of the trains of programs or of erases; in ns but for the first.
pub(crate) struct TrainCounters<'a> {
    pub(crate) suspends: &'a mut u64,
    pub(crate) redone: &'a mut u64,
    pub(crate) suspended: &'a mut u64,
    pub(crate) pulsed: &'a mut u64,
    pub(crate) owed: &'a mut u64,
}

impl NandCounters {
    /// The counters of trains with this effect.
    #[inline]
    pub(crate) fn trains(&mut self, effect: Effect) -> TrainCounters<'_> {
        match effect {
            Effect::Erases => TrainCounters {
                suspends: &mut self.erase_suspends,
                redone: &mut self.erase_redone_time,
                suspended: &mut self.erase_suspended_time,
                pulsed: &mut self.erase_pulse_time,
                owed: &mut self.erase_owed_time,
            },
            // Other commands have no train.
            _ => TrainCounters {
                suspends: &mut self.program_suspends,
                redone: &mut self.program_redone_time,
                suspended: &mut self.program_suspended_time,
                pulsed: &mut self.program_pulse_time,
                owed: &mut self.program_owed_time,
            },
        }
    }
}
