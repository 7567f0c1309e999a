//! Tests of the crate, linked into one program to save link time.

mod cell_modes;
mod common;
mod die_harness;
mod die_legality;
mod die_variation;
mod error_statistics;
mod power_trace;
mod queueing_oracles;
mod scheme_conformance;
mod suspension_conformance;
mod tutorial_scheme;
mod two_bit;
