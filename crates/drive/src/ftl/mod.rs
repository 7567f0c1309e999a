//! Flash translation layers: the interface that a drive uses and the families that implement it.

mod counters;
mod flash;
mod outcome;
pub mod page;

pub use counters::FtlCounters;
pub use flash::Flash;
pub use outcome::Outcome;
pub use page::blocks::manager::{FtlConfig, SoftPages, Tables, Wear, threshold_blocks};
pub use page::blocks::spare_factor::Spare;
pub use page::blocks::write_streams::Stream;
pub use page::gc::state::{GcTurn, Rewritten};
pub use page::mapping::reads::Look;
pub use page::mapping::state::Admitted;
pub use page::page_ftl::{Ftl, Timers};
pub use page::power_loss::metadata_region::MetadataWritten;
pub use page::write_back::queues::REFILL;
