//! Tests of embedded devices.

mod activity;
mod common;
mod determinism;
mod kept_state;
mod power_loss;
mod refused;
mod saved_state;
mod suspension;
