//! Threshold voltages: the pulse trains and suspension schemes of `interpulse-flash` applied to real cells.
//!
//! Voltages are in steps of the scale of Cai et al., Proceedings of the IEEE 2017: 0 is ground, 512 the nominal maximum.

pub mod cells;
pub mod coefficients;
pub mod disturb;
pub mod erase;
pub mod erasing;
pub mod error_counts;
pub mod error_table;
pub mod figure;
pub mod follow;
pub mod histogram;
pub mod history;
pub mod interference;
pub mod jobs;
pub mod kernel;
pub mod laplace;
pub mod layers;
pub mod normal;
pub mod pattern;
pub mod program;
pub mod reading;
pub mod retention;
pub mod states;
pub mod table;
pub mod tester;
pub mod uber;
pub mod wear;
