//! Workload generation: synthetic flows, trace replay and statistical twins.
//!
//! A [`Flow`] is one stream of requests: generated from distributions ([`SyntheticSpec`], [`ZoneFlowSpec`] for zoned drives), replayed from a block
//! trace ([`TraceSpec`]), or a statistical twin of an unavailable trace ([`TwinSpec`]). The owner takes one request
//! at a time with [`Flow::next`]: for a closed flow whenever one of its requests completes, for an open flow at the
//! arrival times.
//!
//! A flow is a pure function of the description, the capacity, the seed and (for a trace) the bytes of the file.
//! Floating-point functions come from `libm`. Operation, size, address and arrival use separate named random streams,
//! so that a change of the operation mix does not change the addresses.
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

mod batching;
pub mod error;
pub mod flow;
pub mod fuzz;
pub mod generate;
pub mod hedge;
pub mod spec;
pub mod synthetic;
pub mod trace;
pub mod twin;

pub use error::{SpecError, WorkloadError};
pub use flow::Flow;
pub use fuzz::fuzz_trace;
pub use hedge::HedgeSpec;
pub use spec::{FlowSpec, Pacing, Source, Terms};
pub use synthetic::address::{AddressSpec, HotCold, Normal, Pareto, Parts, Zipf};
pub use synthetic::arrival::{Arrivals, HyperExponential};
pub use synthetic::size::BlockSize;
pub use synthetic::spec::{SyntheticPacing, SyntheticSpec};
pub use synthetic::zones::spec::{AreaSectors, Chunks, VectorFlowSpec, ZoneFlowSpec, ZoneWrites, Zones};
pub use trace::format::{
    AsciiLayout, Columns, Event, Format, Ftrace, Operation, OracleGeneral, Role, Separator, TypeCode,
};
pub use trace::packing::Packing;
pub use trace::position::Position;
pub use trace::problem::{RowFault, TraceError, TraceProblem};
pub use trace::scan::FirstReading;
pub use trace::spec::{Fit, Reorder, Repeat, RepeatAddresses, TracePacing, TraceSpec, Treatment};
pub use trace::statistics::{TraceStatistics, measure};
pub use trace::summary::{DeviceSummary, TraceSummary};
pub use trace::tools::{
    Cut, MergeDevices, MergeTimes, Pace, Rewrite, RewriteError, Rewriting, Rewritten, Scramble, rewrite,
};
pub use trace::unit::TimeUnit;
pub use twin::TwinSizes;
pub use twin::rows::ROWS as TWINS;
pub use twin::spec::{BurstSpec, TwinRow, TwinSpec, UpdateShape};
