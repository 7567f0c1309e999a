//! Tests of embedded devices.

mod activity;
mod common;
mod determinism;
mod kept_state;
mod kept_worlds;
mod power_loss;
mod refused;
mod saved_state;
mod suspension;
