//! Analytic oracles: closed forms and mean-field limits that a correct simulation approaches, one file per family, and the
//! statistics to compare measured values with them.
//!
//! The crate takes and returns plain `f64` and is independent of the simulator, so that both cannot share a mistake. Times and
//! rates of one formula use one arbitrary unit. An argument outside the domain of a formula is an [`OutOfDomain`] error; an
//! overloaded queue has an infinite wait.
//!
//! ```
//! use interpulse_oracle::{stats, write_amplification as wa};
//!
//! let expected = wa::fifo_uniform(0.9)?;
//! let measured = [5.17, 5.19, 5.18, 5.16, 5.20];
//! let interval = stats::confidence_interval(&measured, 1e-3, 1)?;
//! assert!(interval.contains(expected));
//! # Ok::<(), interpulse_oracle::OutOfDomain>(())
//! ```

pub mod caching;
pub mod cells;
pub mod coding;
mod domain;
pub mod little;
mod numeric;
pub mod queueing;
pub mod raid;
pub mod repeat;
pub mod stats;
pub mod suspension;
pub mod write_amplification;
pub mod zipf;

pub use domain::OutOfDomain;
pub use numeric::lambert_w0;
