//! Tests of embedded devices.

mod activity;
mod common;
mod determinism;
mod power_loss;
mod refused;
mod saved_state;
