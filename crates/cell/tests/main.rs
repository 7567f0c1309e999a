//! Tests of the crate, linked into one program to save link time.

mod aging;
mod compensated_programs;
mod reprogramming;
mod state_table;
mod suspended_erases;
mod suspended_programs;
