//! Garbage collection: collector, victim policies, windows (IODA), synthetic write amplification.

mod collector;
pub mod state;
pub(crate) mod synthetic;
pub(crate) mod untimed;
pub mod victim;
mod window;
