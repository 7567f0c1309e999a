//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod aging;
mod reprogramming;
mod state_table;
mod suspended_erases;
mod suspended_programs;
