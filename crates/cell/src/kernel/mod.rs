//! Vectorised kernels of the cell model: pulse and verify ([`interpulse_engine::vectorised`]).

mod noise;
mod program;
mod verify;

pub use noise::{even, hash, irwin_hall};
pub use program::{INHIBITED, Pulse, pulse};
pub use verify::verify;
