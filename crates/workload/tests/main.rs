//! Test program with all tests of the crate: one program avoids repeated linking of the dependencies.

mod common;
mod fuzz;
mod messages;
mod readers;
mod real_traces;
mod recognition;
mod registries;
mod synthetic;
mod twins;
