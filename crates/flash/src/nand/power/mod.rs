//! Power of the array: what the dies draw, by what for; the current through time; a budget that scheduling respects.

pub mod budget;
mod config;
mod grants;
pub mod meter;
mod spent;
mod supply;
pub mod tally;

pub use config::PowerConfig;
pub(super) use supply::Supply;
