//! Jobs.

pub mod reprogram;
