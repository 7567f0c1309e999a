//! Block management: address layout, free and open blocks, write streams, balance between lanes.

mod cell_modes;
mod free_space;
mod lane_balance;
pub mod layout;
pub mod manager;
pub mod program_address;
pub(crate) mod program_progress;
pub mod spare_factor;
pub mod spare_seen;
pub mod write_streams;
