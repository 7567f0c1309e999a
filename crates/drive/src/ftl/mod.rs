//! Flash translation layers: the interface that a drive uses and the families that implement it.
//!
//! ```text
//!            admit  read  trim  flush            (units and opaque tags, no host requests)
//!               |     |     |     |
//! mapping <-- write-back, collection, refresh, metadata --> outcomes: landed, flushed, ...
//!               |     |     |     |
//!            programs, reads, erases             (submitted to the flash array, whose completions return here)
//! ```

mod block_pool;
mod counters;
mod flash;
mod ftl_state;
mod interface;
pub mod layout;
pub mod log_block;
mod namespaces;
mod outcome;
pub mod page;
mod reads;
mod supplement;
mod transactions;
pub mod zoned;

pub use counters::FtlCounters;
pub use flash::Flash;
pub use ftl_state::{EachNamespace, FtlState, InitialBlocks, PreconditionedState};
pub use interface::{Ftl, FtlFamily, Namespace, NamespaceFamily, NamespacedFtl};
pub use log_block::LogBlockFtl;
pub use outcome::{Admitted, Outcome};
pub use page::blocks::manager::BlockManager;
pub use page::blocks::spare_factor::Spare;
pub use page::blocks::spare_seen::SpareSeen;
pub use page::blocks::thresholds::{FtlConfig, SoftPages, threshold_blocks};
pub use page::blocks::wear::Wear;
pub use page::blocks::write_streams::Stream;
pub use page::gc::state::{GcWindow, Rewritten};
pub use page::page_ftl::{PageFtl, Timers};
pub use page::power_loss::metadata_region::MetadataWritten;
pub use page::slc::{SlcCache, SlcCounters};
pub use page::write_back::queues::REFILL;
pub use reads::LookupResult;
pub use supplement::Supplement;
pub use zoned::ZonedFtl;
