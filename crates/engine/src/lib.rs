//! The ground floor of interpulse: simulated time, the agenda of timers, named random streams,
//! latency histograms and declared counters. Depends on nothing of interpulse.

pub mod agenda;
pub mod counters;
pub mod divide;
pub mod histogram;
pub mod random;
pub mod size;
pub mod slab;
pub mod time;

pub use agenda::{Agenda, ResourceId};
pub use counters::CounterInfo;
pub use divide::Divider;
pub use histogram::LatencyHistogram;
pub use random::{Rng, Streams};
pub use size::Bytes;
pub use slab::Slab;
pub use time::{Duration, SimTime};
