//! Block management: free and open blocks, thresholds of free space, write streams, balance between lanes.

mod cell_modes;
pub(crate) mod free_block;
mod free_space;
mod ftl_state;
mod lane_balance;
pub mod manager;
mod overfull_lanes;
pub mod program_address;
pub(crate) mod program_progress;
pub mod spare_factor;
pub mod spare_seen;
pub mod thresholds;
mod victims;
pub mod wear;
mod wear_order;
pub mod write_streams;
