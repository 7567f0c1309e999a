//! Cell model: threshold voltages of real cells under the pulse trains and suspension schemes of `interpulse-flash`.
//!
//! Voltages are in steps of the scale of Cai et al., Proceedings of the IEEE 2017: 0 is ground, 512 the nominal maximum.
//!
//! ```
//! use interpulse_cell::uber::Code;
//!
//! // A code that corrects 80 bits of a KiB holds at a raw bit error rate of 0.4 %, and fails at 1.2 %.
//! assert!(Code::PER_KIB_80.fails(0.004) < 1e-9);
//! assert!(Code::PER_KIB_80.fails(0.012) > 0.9);
//! ```

pub mod background_pattern;
pub mod cells;
pub mod coefficients;
pub mod disturb;
pub mod erase;
pub mod error_counts;
pub mod error_table;
pub mod histogram;
pub mod history;
pub mod interference;
pub mod ispe;
pub mod jobs;
pub mod kernel;
pub mod laplace;
pub mod layers;
pub mod normal;
pub mod preset_values;
pub mod program;
pub mod replay;
pub mod retention;
pub mod state_table;
pub mod states;
pub mod tester;
pub mod uber;
pub mod wear;
