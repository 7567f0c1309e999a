//! Embedding: one drive or array inside another simulator, which owns the clock.
//!
//! A [`Device`] is built from a configuration text. The host submits requests at instants, advances simulated time and polls
//! completions; the device runs only inside these calls, on the thread that makes them. There is no global state: devices on
//! several threads are independent, and a device may move between threads. Completions depend on the configuration and the
//! submissions alone, not on how the host divides simulated time into calls.
//!
//! ```
//! use interpulse_embed::{Device, Options, Request, SimTime};
//!
//! let mut device = Device::create(&Options::new("drive = \"a4-mini\"\npart.blocks-per-plane = 24"))?;
//! let tag = device.submit(SimTime(1_000), &Request::read(0, 4096))?;
//! while let Some(next) = device.next_event_time().filter(|_| device.pending() > 0) {
//!     device.advance_to(next)?;
//! }
//! let done = device.pop().expect("the read has completed");
//! assert_eq!((done.tag, done.submitted), (tag, SimTime(1_000)));
//! assert!(done.is_success());
//! assert_eq!(done.causes.iter().sum::<u64>(), done.latency().as_ns());
//! device.finish()?;
//! # Ok::<(), interpulse_embed::Error>(())
//! ```

mod activity;
mod arrivals;
mod counters;
mod device;
mod error;
mod journal;
mod kept_state;
mod machine;
mod options;
mod power;
mod request;
mod saved;
mod submission;
mod suspension;
mod unit_change;
mod units;

pub use activity::Activity;
pub use counters::Counters;
pub use device::{Device, LONGEST};
pub use error::{Error, message_of_panic};
pub use interpulse_engine::account::{CAUSE_INFO, CAUSES};
pub use interpulse_engine::{AuditReport, Duration, Op, SimTime, ZoneAction};
pub use kept_state::{Parked, age_state, clone_state, show_state};
pub use options::Options;
pub use power::PowerCut;
pub use request::{Completion, OPS, Request, StatusCode, op_of_code};
pub use suspension::Suspension;
pub use unit_change::UnitChange;
