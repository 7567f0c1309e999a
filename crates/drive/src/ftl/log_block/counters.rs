//! Counters of log blocks.

use interpulse_engine::counters;

counters! {
    /// Counters of log blocks.
    pub struct LogBlockCounters {
        /// log blocks, written in order and whole, that became data blocks
        switch_merges: "merges",
        /// log blocks, written in order so far, that became data blocks when the rest had been copied
        partial_merges: "merges",
        /// logical blocks copied to an erased super block
        full_merges: "merges",
        /// logical blocks merged in place: only sub-blocks with newer units in log blocks were erased and written again
        in_place_merges: "merges",
        /// erases of single sub-blocks, in merges in place
        sub_block_erases: "erases",
        /// units that merges in place left in the other sub-blocks
        units_left_in_place: "units",
        /// log blocks erased without a merge, as none of their units was the newest
        empty_log_blocks: "blocks",
        /// log blocks opened
        opened_log_blocks: "blocks",
        /// of these, log blocks for a sequential stream
        sequential_log_blocks: "blocks",
        /// programs that had to wait for a merge or an erase
        merge_waits: "events",
    }
}
