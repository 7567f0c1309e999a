//! Simulated drive behind a server: its clock, thread, statistics, record and metrics.

pub mod changes;
pub mod class;
pub mod clock;
pub mod faults;
pub mod metrics;
pub mod pacer;
mod punctual;
pub mod queue;
pub mod record;
pub mod report;
pub mod simulated_drive;
pub mod state_saver;
pub mod statistics;
pub mod suspension;
pub mod units;
pub mod view;
pub mod window;
