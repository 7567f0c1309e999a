//! Flash memory: geometry, parts, pulse trains, dies, suspension, channels and transaction scheduling.

pub mod cell_mode;
pub mod command;
pub mod die;
pub mod errors;
pub mod geometry;
pub mod hold_up;
pub mod ids;
pub mod nand;
pub mod parts;
pub mod phases;
pub mod power;
pub mod pulse;
pub mod reprogram;
pub mod script;
pub mod suspend;
pub mod variation;

pub use ids::DieId;
