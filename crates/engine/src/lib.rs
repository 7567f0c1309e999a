//! The ground floor of interpulse: simulated time, the agenda of timers, named random streams,
//! latency histograms, declared counters, electrical quantities, and what a device is: requests, accounts of their
//! time, completions. Depends on nothing of interpulse.

pub mod account;
pub mod agenda;
pub mod counters;
pub mod device;
pub mod divide;
pub mod electric;
pub mod histogram;
pub mod latencies;
pub mod numbers;
pub mod random;
pub mod request;
pub mod ring;
pub mod size;
pub mod slab;
pub mod time;
pub mod vector;

pub use agenda::{Agenda, ResourceId};
pub use counters::CounterInfo;
pub use device::{Ahead, AuditReport, Completion, Device, News, RequestId, Tag};
pub use divide::Divider;
pub use electric::{Current, EnergyPerBit, Limit, Power, Voltage};
pub use histogram::LatencyHistogram;
pub use latencies::Latencies;
pub use numbers::Number;
pub use random::{Rng, Streams};
pub use request::{Op, Request, SECTOR};
pub use ring::Ring;
pub use size::Bytes;
pub use slab::Slab;
pub use time::{Duration, SimTime};
