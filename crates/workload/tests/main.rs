//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod common;
mod fuzz;
mod messages;
mod readers;
mod real_traces;
mod recognition;
mod registries;
mod synthetic;
mod twins;
