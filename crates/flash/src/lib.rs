//! Flash memory: geometry, parts, pulse trains, dies, suspension, channels and transaction scheduling.
//!
//! ```
//! use interpulse_flash::parts::{PartSpec, preset};
//!
//! let mut document = preset("a4-tlc")?;
//! let part = PartSpec::read(&mut document.section("part")?)?;
//! assert_eq!(part.bits_per_cell, 3);
//! // A program is a train of loops, each a pulse and its verify.
//! assert!(part.program.loops > 1 && part.program.loop_time() > part.program.pulse);
//! # Ok::<(), interpulse_settings::ConfigError>(())
//! ```

pub mod cell_mode;
pub mod command;
pub mod die;
pub mod erase;
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
