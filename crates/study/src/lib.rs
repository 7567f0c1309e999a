//! Cases: what a configuration describes, the state each starts from, how it is run, and its result.

pub mod array_case;
pub mod config;
pub mod die_bench;
pub mod lists;
pub mod power;
pub mod precondition;
pub mod report;
mod room;
pub mod run;
pub mod runner;
pub mod snapshot;
pub mod traces;
