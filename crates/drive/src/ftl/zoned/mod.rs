//! Zoned FTL: zones over super blocks that the host writes in order and resets; no map, no garbage collection.
//!
//! A unit's place on flash follows from its address and the super blocks of its zone ([`geometry`]). Written data stays in
//! the write cache until a program of its zone is complete; so nothing but the end of a finished zone is padded, and write
//! amplification is 1.

mod area;
mod audit;
mod chunks;
mod copies;
pub mod counters;
mod durability;
mod failing_zones;
mod failures;
mod flushes;
pub mod geometry;
mod initial_state;
mod interface;
mod parking;
mod power_loss;
mod reads;
mod repairs;
mod resets;
pub mod spec;
pub mod state;
pub mod tables;
mod writes;
pub mod zoned_ftl;

pub use zoned_ftl::ZonedFtl;
