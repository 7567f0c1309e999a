//! One simulated SSD, from the submission queue to the flash array. `interpulse-study` reads a [`DriveSpec`] from TOML.
//!
//! ```
//! use interpulse_study::config::{PlanRequest, read_cases};
//!
//! let text = "drive = \"a4-mini\"\n[[flow]]\nname = \"reads\"\nread = \"100%\"\nrequests = 1000\n";
//! let request = PlanRequest { text: text.into(), path: "example.toml".into(), ..PlanRequest::default() };
//! let cases = read_cases(&request).expect("the configuration is legal");
//! let spec = &cases[0].drive;
//! assert_eq!(spec.geometry.dies(), 8);
//! assert!(spec.check().is_ok());
//! ```

mod account;
pub mod audit;
pub mod cache;
pub mod cache_writers;
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
pub use drive::{BlockPast, Drive, Formatted, GcWindow, History, Rewritten, StateFigures};
pub use ftl::layout::Layout;
pub use ftl::page::gc::victim::{DChoices, GcPolicy, ThresholdBase};
pub use ftl::page::mapping::table::Map;
pub use ftl::page::placement::counters::{HandleCounters, PlacementCounters, PlacementEvents};
pub use ftl::page::precondition::{Draws, Preconditioner};
pub use ftl::page::reprogram::super_layer_word_lines;
pub use ftl::page::wear::health::Health;
pub use ftl::{
    EachNamespace, FtlCounters, FtlState, MetadataWritten, PreconditionedState, SlcCounters, SpareSeen,
    Supplement, Wear, threshold_blocks,
};
pub use spec::{DriveSpec, Impossible};
