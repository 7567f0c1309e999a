//! Who asks a drive for what, and when.
//!
//! A [`Flow`] is one stream of requests: made up by a synthetic generator ([`SyntheticSpec`]), replayed
//! from a block trace ([`TraceSpec`]), or the statistical twin of a trace that is not at hand ([`TwinSpec`]). Its owner asks for one request at a time with [`Flow::next`]; a
//! closed flow is asked again whenever one of its requests completes, an open flow brings arrival times.
//!
//! Everything is a pure function of the description, the capacity, the seed and (for a trace) the file's
//! bytes: floats go through `libm`, and every purpose (operation, size, address, arrival) has its own
//! named random stream, so changing the mix leaves the addresses as they were.
//!
//! ```
//! use interpulse_engine::{Op, Streams};
//! use interpulse_workload::{Flow, FlowSpec, Pacing, SyntheticSpec};
//!
//! let spec = FlowSpec::synthetic("reader", SyntheticSpec::default());
//! let mut flow = Flow::new(&spec, 1 << 21, &Streams::new(1), 0)?;
//! assert_eq!(flow.pacing(), Pacing::Closed { depth: 1 });
//! let (_, request) = flow.next()?.expect("no limit was set");
//! assert_eq!((request.op, request.sectors, request.sector % 8), (Op::Read, 8, 0));
//! # Ok::<(), interpulse_workload::WorkloadError>(())
//! ```

pub mod error;
pub mod flow;
pub mod fuzz;
pub mod generate;
pub mod spec;
pub mod synthetic;
mod together;
pub mod trace;
pub mod twin;

pub use error::{SpecError, WorkloadError};
pub use flow::Flow;
pub use fuzz::fuzz_trace;
pub use spec::{FlowSpec, Pacing, Source};
pub use synthetic::address::{AddressSpec, HotCold, Zipf};
pub use synthetic::arrival::{Arrivals, HyperExponential};
pub use synthetic::size::BlockSize;
pub use synthetic::spec::{SyntheticPacing, SyntheticSpec};
pub use trace::format::{AsciiLayout, Event, Format, TypeCode};
pub use trace::packing::Packing;
pub use trace::place::Place;
pub use trace::problem::{RowFault, TraceError, TraceProblem};
pub use trace::scan::FirstReading;
pub use trace::spec::{Fit, Reorder, TracePacing, TraceSpec};
pub use trace::statistics::{TraceStatistics, measure};
pub use trace::summary::{DeviceSummary, TraceSummary};
pub use trace::unit::TimeUnit;
pub use twin::TwinSizes;
pub use twin::rows::ROWS as TWINS;
pub use twin::spec::{BurstSpec, TwinRow, TwinSpec, UpdateShape};
