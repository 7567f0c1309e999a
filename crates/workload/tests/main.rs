//! Test program with all tests of the crate: one program avoids repeated linking of the dependencies.

mod columns;
mod common;
mod discards;
mod fuzz;
mod messages;
mod objects;
mod readers;
mod real_traces;
mod recognition;
mod registries;
mod repetition;
mod stacked;
mod synthetic;
mod tools;
mod twins;
mod untimed;
mod zones;
