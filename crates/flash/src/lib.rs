//! Flash memory: geometry and parts, pulse trains, the die and what may stop it, the channel, and the
//! scheduling of transactions onto both. Everything above it speaks of drives; everything here of dies.

pub mod command;
pub mod die;
pub mod errors;
pub mod geometry;
pub mod hold_up;
pub mod nand;
pub mod numbers;
pub mod parts;
pub mod phases;
pub mod power;
pub mod pulse;
pub mod reprogram;
pub mod script;
pub mod suspend;
pub mod variation;

pub use numbers::DieId;
