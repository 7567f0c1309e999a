//! Placement: the lane of the next program, by a static order or dynamically.

pub(crate) mod lane_selector;
pub mod stripe;
