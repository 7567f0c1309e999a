//! Strict, self-describing configuration.
//!
//! TOML text becomes a tree whose leaves remember where they were written ([`Document`]); layers are laid
//! over each other ([`Document::over`]: `--set` over the user's file over embedded presets); a [`Section`]
//! is then read key by key with units, ranges and documentation. Whatever is read is recorded in a
//! [`Resolution`], which shows every value with its origin and hashes the resolved configuration. Whatever
//! is *not* read is an error: a misspelt key never passes in silence.
//!
//! ```
//! use interpulse_settings::{Document, default, required};
//! use interpulse_engine::Duration;
//!
//! let file = Document::from_toml("[part]\nread = \"80us\"\n", "drive.toml")?;
//! let document = Document::set("part.planes", "4")?.over(file)?;
//! let mut part = document.section("part")?;
//! assert_eq!(part.duration("read", "sensing time", required().positive())?, Duration::from_us(80));
//! assert_eq!(part.u32("planes", "planes per die", default(1).within(1..=8))?, 4);
//! document.finish()?;
//! assert_eq!(document.resolution().entries()[0].origin.to_string(), "drive.toml:2");
//! # Ok::<(), interpulse_settings::ConfigError>(())
//! ```

mod decimal;
mod declaration;
mod document;
mod error;
mod file;
mod fuzz;
mod keys;
mod origin;
mod parse;
mod random_values;
mod read_tracking;
mod registry;
mod resolution;
mod section;
mod spec;
mod tree;
mod value;
mod value_types;

pub use declaration::{Key, Need};
pub use document::Document;
pub use error::{ConfigError, Problem};
pub use file::FileError;
pub use fuzz::fuzz_config;
pub use origin::{Origin, PresetKind};
pub use resolution::{Entry, Resolution};
pub use section::{Row, Section, Variant};
pub use spec::{Spec, Zero, default, optional, required};
