//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod common;
mod die_harness;
mod die_legality;
mod die_variation;
mod error_statistics;
mod power_trace;
mod queueing_oracles;
mod scheme_conformance;
mod suspension_conformance;
mod two_bit;
