//! Cases: what a configuration describes, the state each starts from, how it is run, and its result.

mod batches;
pub mod case;
pub mod config;
pub mod control;
pub mod die_script;
mod leftovers;
pub mod lists;
pub mod machine;
mod memory;
mod overwrites;
pub mod plan;
pub mod power;
pub mod precondition;
mod queue;
pub mod record;
mod remarks;
pub mod report;
mod room;
pub mod run;
pub mod runner;
mod simulated;
pub mod snapshot;
mod state;
mod steady;
pub mod traces;
pub mod warmup;
