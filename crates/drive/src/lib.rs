//! One simulated SSD, from the submission queue to the flash array.

pub mod account;
pub mod audit;
pub mod cache;
pub mod drive;
pub mod ftl;
pub mod host;
pub mod memory;
pub mod simulated;
pub mod spec;
