//! The ground floor of interpulse: simulated time, the agenda of timers, named random streams,
//! latency histograms, declared counters and electrical quantities. Depends on nothing of interpulse.

pub mod agenda;
pub mod counters;
pub mod divide;
pub mod electric;
pub mod histogram;
pub mod random;
pub mod size;
pub mod slab;
pub mod time;

pub use agenda::{Agenda, ResourceId};
pub use counters::CounterInfo;
pub use divide::Divider;
pub use electric::{Current, EnergyPerBit, Limit, Power, Voltage};
pub use histogram::LatencyHistogram;
pub use random::{Rng, Streams};
pub use size::Bytes;
pub use slab::Slab;
pub use time::{Duration, SimTime};
