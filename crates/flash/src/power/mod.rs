//! Power: what the dies draw from their supplies.
//!
//! The currents are the part's ([`crate::parts::power`]).

mod trace;

pub use trace::{Step, trace};
