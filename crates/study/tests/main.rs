//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod a4_headline;
mod architecture;
mod capacity;
mod config_fuzz;
mod config_messages;
mod declarations;
mod die_script;
mod drawn_states;
mod large_blocks;
mod part_files;
mod recording;
mod small_cases;
mod snapshot_guard;
mod steady_start;
