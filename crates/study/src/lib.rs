//! Simulation cases: configuration, initial state, run, report and recording.

pub mod case;
pub mod catalog;
pub mod config;
pub mod control;
pub mod die_script;
pub mod initial_state;
pub mod machine;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod run_target;
pub mod runner;
mod trace_file;
pub mod trace_tools;
pub mod traces;
