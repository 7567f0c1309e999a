//! `ssdsim` format: SSDSim traces, with the same rows as [`super::mqsim`].

pub use super::mqsim::MqSim as SsdSim;
