//! The flash translation layer, a resident between the drive's front and its flash array.
//!
//! ```text
//!            admit  read  trim  flush           (units and opaque tags, no host requests)
//!               |     |     |     |
//! units <-- write-back, collection, refresh, metadata --> outcomes: landed, flushed, ...
//!               |     |     |     |
//!            programs, reads, erases            (given to the flash array, whose outcomes come back here)
//! ```
//!
//! It owns where everything is ([`units`]), where the next write goes and which block is emptied next ([`tables`]), what
//! is written when ([`write_back`], [`by_level`]), collection ([`collect`]), rewriting ([`refresh`]), what is written for a
//! loss of power ([`metadata`]) and what is found after one ([`outage`]). It never calls up: whoever asked for something drains
//! [`Ftl::next_outcome`]. Preconditioning takes the same steps on the same [`tables`] back to back, without time.

mod ahead;
mod area;
mod by_level;
pub mod checkpoint;
mod collect;
pub mod collection;
mod counters;
mod dirty;
mod flash;
pub mod gc;
pub mod hotness;
mod impose;
mod imposed;
mod jobs;
mod lane_room;
pub mod layout;
mod levels;
pub mod map;
mod metadata;
mod mount;
mod moved;
pub mod oob;
pub mod outage;
mod outcome;
mod passes;
mod persist;
pub mod place;
mod placement;
mod positions;
pub mod precondition;
mod programs;
mod reads;
pub mod record;
pub mod recovery;
mod refresh;
pub mod reprogram;
mod resident;
mod restore;
mod spare;
mod streams;
pub mod stripe;
pub mod tables;
mod thinned;
mod turn;
mod two_bit;
pub mod units;
mod verify;
mod write_back;

pub use area::MetadataWritten;
pub use collection::{GcTurn, Rewritten};
pub use counters::FtlCounters;
pub use dirty::REFILL;
pub use flash::Flash;
pub use outcome::Outcome;
pub use reads::Look;
pub use resident::{Ftl, Timers};
pub use spare::Spare;
pub use streams::Stream;
pub use tables::{FtlConfig, SoftPages, Tables, Wear, threshold_blocks};
pub use units::Admitted;
