//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod arithmetic;
mod cells;
mod monte_carlo;
mod queueing;
mod stats;
mod suspension;
mod write_amplification;
