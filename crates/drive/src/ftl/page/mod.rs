//! Page-mapped FTL: the first FTL family.

mod audit;
pub mod blocks;
pub(crate) mod faults;
mod format;
pub(crate) mod formatting;
pub mod gc;
mod interface;
pub mod mapping;
pub mod page_ftl;
mod parking;
pub mod placement;
pub mod power_loss;
pub mod precondition;
mod refresh;
pub mod reprogram;
pub mod separation;
pub mod slc;
mod snapshot;
pub mod wear;
pub mod write_back;

pub use page_ftl::PageFtl;
