//! Flash parts: specification, reader and built-in presets. A configuration names a preset and overrides individual keys:
//!
//! ```
//! use interpulse_flash::parts::{self, PartSpec};
//! use interpulse_settings::Document;
//!
//! let file = Document::from_toml("[part]\npreset = \"a4-tlc\"\nread-lsb = \"60us\"\n", "drive.toml")?;
//! let document = parts::layered(file)?;
//! let part = PartSpec::read(&mut document.section("part")?)?;
//! document.finish()?;
//! assert_eq!((part.name.as_str(), part.read[0].to_string().as_str()), ("a4-tlc", "60us"));
//! # Ok::<(), interpulse_settings::ConfigError>(())
//! ```

pub mod cache;
mod divided;
mod file;
mod interface;
mod pages;
mod plane_address;
pub mod power;
mod program_mode;
mod registry;
mod spec;
mod sub_blocks;
#[cfg(test)]
mod tests;
mod train;
mod transfer;

pub use cache::{CacheOnRead, CacheProgram, CacheRegister};
pub use file::{FILE_DOC, with_file};
pub use pages::{MAX_BITS, page_types};
pub use plane_address::PlaneAddress;
pub use power::PowerSpec;
pub use registry::{Preset, layered, names, preset, presets};
pub use spec::*;
pub use sub_blocks::{SubBlockSpec, SubBlocks};
pub use train::{ReprogramSpec, SlcModeSpec, TrainSpec, TwoStepSpec};
pub use transfer::ReadTransfer;
