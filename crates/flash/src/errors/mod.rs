//! Bit errors: how many there are in what a read returns, and what the decoder makes of them.
//!
//! An [`ErrorTable`] gives the raw bit error rate of a page as a function of wear, retention, reprogramming, layer,
//! page type and read attempt. At the start of a run it is [compiled](model) into integers; each sensing then draws the
//! number of errors of its worst codeword and compares it with what the [`Ecc`] corrects. What a failed decode leads to
//! (retry steps, soft decoding, an uncorrectable read) is the array's business ([`crate::nand`]).

pub mod blocks;
pub mod draw;
pub mod ecc;
pub mod fixed;
pub mod model;
pub mod presets;
mod retries;
mod spec;
pub mod table;
pub mod toml;

pub use ecc::{Ecc, SoftStage};
pub use model::ErrorModel;
pub use presets::{IDEAL, PRESETS};
pub use retries::{Pipelined, Retry};
pub use spec::{ErrorSpec, InitialAges};
pub use table::{Conditions, Disturb, ErrorTable, MOST_RBER};
pub use toml::{SECTION, table_in_file};
