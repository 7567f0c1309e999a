//! Several drives behind one address space, in one virtual time: RAID-0, 1, 5, 6 and 10 as Linux md does them.

pub mod array;
mod assemble;
mod bits;
pub mod config;
pub mod contents;
mod copying;
pub mod layout;
pub mod level;
mod losses;
mod outage;
mod outbox;
mod owners;
pub mod parity;
pub mod plan;
mod ppl;
mod report;
pub mod stripe_cache;
mod stripes;
pub mod sync;
mod turns;
mod untold;
mod updates;
