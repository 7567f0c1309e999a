//! Tests of embedded devices.

mod common;
mod determinism;
mod power_loss;
mod refused;
mod saved_state;
