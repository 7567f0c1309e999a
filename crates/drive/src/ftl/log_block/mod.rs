//! Log-block FTL (hybrid mapping): data blocks mapped by block, and a few log blocks mapped by unit.
//!
//! A *logical block* is the units that one super block holds, on a fixed lane ([`geometry`]). Its data block has each unit at
//! the unit's own offset, so that the map has one entry for it. All writes go to log blocks of the lane, and merges move
//! their units to data blocks:
//!
//! - a *switch merge* makes a log block that was written in order, from its first to its last unit, the data block;
//! - a *partial merge* copies what is missing behind the units of a log block written in order so far, and switches;
//! - a *full merge* copies the newest version of every unit of a logical block to an erased super block.
//!
//! A merge in place ([`in_place`]) rewrites single sub-blocks of the data block instead of copying it.
//!
//! With `block` association (BAST: Kim, Kim, Noh, Min and Cho, IEEE TCE 2002) a log block has the units of one logical block.
//! With `full` association (FAST: Lee, Park, Chung, Lee, Park and Song, ACM TECS 2007) units of all logical blocks of the lane
//! share the log blocks, and one more log block takes a sequential stream.

mod admission;
mod audit;
pub mod counters;
mod dirty;
pub mod geometry;
mod in_place;
mod initial_state;
mod interface;
mod kept_logs;
pub mod log_block_ftl;
mod logs;
mod map;
mod merge_steps;
mod merges;
mod parking;
mod programs;
mod reads;
mod selection;
pub mod spec;
mod stream;
mod sub_blocks;
pub mod tables;
pub use log_block_ftl::LogBlockFtl;
