//! One simulated SSD, from the submission queue to the flash array.

mod account;
pub mod audit;
pub mod cache;
pub mod drive;
pub mod ftl;
pub mod host_interface;

pub mod memory;
pub mod numbers;
pub mod spec;
