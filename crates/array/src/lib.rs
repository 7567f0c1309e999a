//! RAID array of simulated SSDs in one virtual time: RAID-0, 1, 5, 6 and 10 like Linux md.

pub mod array;
pub mod config;
pub mod content_audit;
mod failure;
mod power_loss;
pub mod raid;
mod stripes;
