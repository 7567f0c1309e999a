//! A simulated drive as a block device: an NBD server whose completions arrive when those of the drive would.

pub mod command;
pub mod drive;
pub mod protocol;
pub mod revertible;
pub mod server;
pub mod store;
pub mod web;
