//! Tests of libinterpulse.

mod abi;
mod header;
mod library;
mod programs;
