//! Garbage collection: collector, destinations of moved data, victim policies, windows (IODA), synthetic write amplification.

mod collector;
pub mod copyback;
mod copyback_moves;
pub(crate) mod destination;
mod destinations;
mod multi_block;
pub mod state;
pub(crate) mod synthetic;
pub(crate) mod untimed;
pub mod victim;
mod window;
