//! What a flow is: its source, its bounds and the queue it submits to.

use crate::synthetic::spec::{SyntheticPacing, SyntheticSpec};
use crate::trace::spec::{TracePacing, TraceSpec};
use crate::twin::spec::TwinSpec;
use interpulse_engine::SimTime;

/// The description of one flow of requests.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSpec {
    /// Name in results and error messages.
    pub name: String,
    /// Where the requests come from.
    pub source: Source,
    /// When the flow begins; arrival times count from here.
    pub start: SimTime,
    /// No request arrives at or after this instant. Must be later than `start`. A closed flow does not know
    /// the time: its owner stops asking at [`crate::Flow::stop`].
    pub stop: Option<SimTime>,
    /// Largest number of requests, flushes included; at least 1.
    pub limit: Option<u64>,
    /// Index of the submission queue pair.
    pub queue: u32,
}

impl FlowSpec {
    /// A synthetic flow from time zero without end, on queue 0.
    pub fn synthetic(name: &str, synthetic: SyntheticSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Synthetic(synthetic))
    }

    /// The replay of a whole trace from time zero, on queue 0.
    pub fn trace(name: &str, trace: TraceSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Trace(trace))
    }

    /// A whole statistical twin from time zero, on queue 0.
    pub fn twin(name: &str, twin: TwinSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Twin(twin))
    }

    /// Whether the next request is made when one has completed, so that the rate is the device's.
    pub fn is_closed(&self) -> bool {
        match &self.source {
            Source::Synthetic(of) => matches!(of.pacing, SyntheticPacing::Closed { .. }),
            Source::Trace(of) => matches!(of.pacing, TracePacing::Closed { .. }),
            Source::Twin(_) => false,
        }
    }

    fn of(name: &str, source: Source) -> FlowSpec {
        FlowSpec { name: name.to_owned(), source, start: SimTime::ZERO, stop: None, limit: None, queue: 0 }
    }
}

/// Where a flow's requests come from.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// Made up from distributions.
    Synthetic(SyntheticSpec),
    /// Read from a block trace.
    Trace(TraceSpec),
    /// Made up to have the statistics of a trace.
    Twin(TwinSpec),
}

/// When the owner of a flow should ask for the next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Whenever fewer than `depth` requests of the flow are outstanding.
    Closed {
        /// Requests kept outstanding; at least 1.
        depth: u32,
    },
    /// At the arrival time that [`crate::Flow::next`] gives, whatever is outstanding.
    Open,
}

impl From<TracePacing> for Pacing {
    fn from(of: TracePacing) -> Pacing {
        match of {
            TracePacing::Recorded { .. } => Pacing::Open,
            TracePacing::Closed { depth } => Pacing::Closed { depth },
        }
    }
}
