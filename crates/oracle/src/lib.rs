//! What a correct simulation must approach: closed forms and mean-field limits, one file per family, and the
//! statistics that say whether a measured value agrees with them.
//!
//! Everything here is plain `f64` in and out and knows nothing of the simulator, so that it cannot share a
//! mistake with it. Times and rates are in any unit as long as one formula's arguments use the same one. An
//! argument outside a formula's domain is an [`OutOfDomain`] error; a load that no queue can carry is not an
//! error but an infinite wait.
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

pub mod cells;
pub mod coding;
mod domain;
mod lambert;
pub mod little;
pub mod queueing;
pub mod raid;
pub mod repeat;
mod root;
pub mod stats;
pub mod suspension;
pub mod write_amplification;
pub mod zipf;

pub use domain::OutOfDomain;
pub use lambert::lambert_w0;
