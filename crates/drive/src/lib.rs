//! One simulated SSD, from the submission queue to the flash array.

mod account;
pub mod audit;
pub mod cache;
pub mod counters;
pub mod dram;
pub mod drive;
pub mod firmware;
pub mod ftl;
pub mod host_interface;

pub mod memory;
pub mod numbers;
pub mod owner;
pub mod read_cache;
pub mod replacement;
pub mod spec;

pub use counters::DriveCounters;
pub use drive::hold_up::{HoldUp, Ways};
pub use drive::power_state::Recovery;
pub use drive::{Drive, Formatted, GcWindow, PreconditionedState, Rewritten};
pub use ftl::layout::Layout;
pub use ftl::page::gc::victim::{DChoices, GcPolicy, ThresholdBase};
pub use ftl::page::mapping::table::Map;
pub use ftl::page::placement::counters::{HandleCounters, PlacementCounters, PlacementEvents};
pub use ftl::page::precondition::{Draws, Preconditioner};
pub use ftl::page::reprogram::super_layer_word_lines;
pub use ftl::page::wear::health::Health;
pub use ftl::{FtlCounters, MetadataWritten, SlcCounters, SpareSeen, Wear, threshold_blocks};
pub use spec::{DriveSpec, Impossible};
