//! `ssdsim`: SSDSim's traces, in the same rows as [`super::mqsim`].

pub use super::mqsim::MqSim as SsdSim;
