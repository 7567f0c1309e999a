//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod audits;
mod cache_program;
mod cell_modes;
mod drive_common;
mod ftl_common;
mod ftl_oracles;
mod ftl_tables;
mod gc_depth;
mod host_interface;
mod imposed;
mod map_misses;
mod no_cache;
mod power_loss;
mod randomised_drives;
mod read_retry;
mod registries;
mod reprogramming;
mod run_until;
mod short_blocks;
mod soak;
mod starving_writes;
mod stripes;
mod super_word_lines;
mod suspension_schemes;
mod uniform_overwrites;
mod write_through;
