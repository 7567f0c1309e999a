//! Tests of the crate, linked into one program to save link time.

mod arithmetic;
mod cells;
mod monte_carlo;
mod queueing;
mod stats;
mod suspension;
mod write_amplification;
