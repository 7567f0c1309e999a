//! Integration tests in one program, which compiles and links faster than one per file.

mod a4_headline;
mod architecture;
mod capacity;
mod config_fuzz;
mod config_messages;
mod declarations;
mod die_script;
mod drawn_states;
mod large_blocks;
mod namespaces;
mod part_files;
mod recording;
mod scale;
mod small_cases;
mod snapshot_guard;
mod steady_start;
