//! What a pulse and a verify do to an array of cells: the two loops in which the model spends its time.
//!
//! Both are written so that the compiler turns them into vector code ([`interpulse_engine::vectorised`]).

mod noise;
mod program;
mod verify;

pub use noise::{even, hash, irwin_hall};
pub use program::{INHIBITED, Pulse, pulse};
pub use verify::verify;
