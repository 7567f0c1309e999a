//! One simulated SSD, from the submission queue to the flash array, and the runs made with it.

pub mod account;
pub mod audit;
pub mod cache;
pub mod config;
pub mod die_bench;
pub mod drive;
pub mod ftl;
pub mod host;
pub mod lists;
pub mod memory;
pub mod power;
pub mod precondition;
pub mod report;
mod room;
pub mod run;
pub mod runner;
pub mod snapshot;
pub mod traces;
