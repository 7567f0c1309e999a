//! Wear-out: endurance of blocks, bad blocks and their reserve, failed programs, health of the drive.

pub(crate) mod bad_blocks;
pub(crate) mod before;
pub(super) mod collection;
mod endurance;
pub mod health;
mod retirement;
