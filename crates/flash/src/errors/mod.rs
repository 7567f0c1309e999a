//! Bit errors: raw error rates, error counts of a sensing, and error correction.
//!
//! An [`ErrorTable`] gives the raw bit error rate of a page by wear, retention, reprogramming, layer, page type and read
//! attempt. It is [compiled](model) into integers at the start of a run; each sensing samples the errors of its worst codeword
//! and compares them with the capability of the [`Ecc`]. [`crate::nand`] performs retry steps and soft decoding.

pub mod block_state;
pub mod ecc;
pub mod fixed_log;
pub mod model;
pub mod presets;
mod retry;
pub mod sampler;
mod spec;
pub mod table;
pub mod toml;

pub use ecc::{Ecc, SoftStage};
pub use model::ErrorModel;
pub use presets::{IDEAL, PRESETS};
pub use retry::{Offsets, OnDie, Pipelined, Retry};
pub use spec::{ErrorSpec, InitialAges, PowerOff};
pub use table::{Conditions, Disturb, ErrorTable, MAX_RBER};
pub use toml::{SECTION, read_table_file};
