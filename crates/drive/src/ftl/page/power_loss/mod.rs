//! Power loss: out-of-band data, checkpoints, journal of trims, recovery.

pub mod checkpoint;
pub mod metadata_region;
mod metadata_writer;
pub(crate) mod mount_time;
pub mod oob;
pub mod outage;
pub mod recovery;
mod restore;
pub mod state;
mod translation;
mod two_bit;
