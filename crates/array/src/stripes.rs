//! Stripes: stripe cache, stripe handling and update statistics of levels with parity.

pub mod cache;
mod handling;
pub(crate) mod update_statistics;
