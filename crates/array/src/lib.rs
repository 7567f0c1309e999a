//! Several drives behind one address space, in one virtual time: RAID-0, RAID-1 and RAID-5 as Linux md does them.

pub mod array;
pub mod contents;
pub mod layout;
mod outbox;
pub mod plan;
mod ppl;
mod report;
pub mod runner;
pub mod stripe_cache;
mod stripes;
pub mod sync;
