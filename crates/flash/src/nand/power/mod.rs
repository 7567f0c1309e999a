//! Power of the array: energy by category, current through time, and a budget for scheduling.

pub mod budget;
mod budget_grants;
mod config;
mod energy_use;
pub mod meter;
mod supply;
pub mod tally;

pub use config::PowerConfig;
pub(super) use supply::Supply;
