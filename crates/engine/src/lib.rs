//! Base layer: simulated time, event queue, random streams, histograms, counters, electrical quantities, and the interface
//! of a device with its requests, completions and latency accounts. Depends on no other crate of interpulse.
//!
//! ```
//! use interpulse_engine::{EventQueue, ResourceId, SimTime};
//!
//! // Each resource has one timer.
//! let mut events = EventQueue::new(2);
//! events.arm(ResourceId(0), SimTime(100));
//! events.arm(ResourceId(1), SimTime(50));
//! assert_eq!(events.next(SimTime(1_000)), Some((SimTime(50), ResourceId(1))));
//! assert_eq!(events.now(), SimTime(50));
//! ```

pub mod account;
pub mod counters;
pub mod data_store;
pub mod device;
pub mod divide;
pub mod electric;
pub mod event_queue;
pub mod histogram;
pub mod latencies;
pub mod numbers;
pub mod random;
pub mod request;
pub mod ring;
pub mod size;
pub mod slab;
pub mod status;
pub mod time;
pub mod vector;

pub use counters::CounterInfo;
pub use data_store::{DataError, DataStore, MemoryStore};
pub use device::{AuditReport, Completion, Device, DeviceEvent, PrefetchDistance, RequestId, Tag, Waiting};
pub use divide::Divider;
pub use electric::{Current, EnergyPerBit, Limit, Power, Voltage};
pub use event_queue::{EventQueue, ResourceId};
pub use histogram::LatencyHistogram;
pub use latencies::Latencies;
pub use numbers::Number;
pub use random::{Rng, Streams};
pub use request::{Op, OpClass, Request, SECTOR, VectorAction, ZoneAction};
pub use ring::Ring;
pub use size::Bytes;
pub use slab::Slab;
pub use status::Status;
pub use time::{Duration, SimTime};
