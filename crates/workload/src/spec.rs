//! Flow description: source, bounds and submission queue.

use crate::hedge::HedgeSpec;
use crate::synthetic::spec::{SyntheticPacing, SyntheticSpec};
use crate::synthetic::zones::spec::ZoneFlowSpec;
use crate::trace::spec::{TracePacing, TraceSpec};
use crate::twin::spec::TwinSpec;
use interpulse_engine::{Duration, Request, SimTime};

/// Description of one flow of requests.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSpec {
    /// Name in results and error messages.
    pub name: String,
    /// Source of the requests.
    pub source: Source,
    /// Start of the flow, the origin of its arrival times.
    pub start: SimTime,
    /// First instant without arrivals; must be later than `start`. The owner of a closed flow has to stop at
    /// [`crate::Flow::stop`].
    pub stop: Option<SimTime>,
    /// Largest number of requests, flushes included; at least 1.
    pub limit: Option<u64>,
    /// Index of the submission queue pair.
    pub queue: u32,
    /// Number of the namespace that it addresses, from zero.
    pub namespace: u32,
    /// Placement handle of its writes; `None` if the flow names none, which is handle 0.
    pub handle: Option<u8>,
    /// When its reads of an array are hedged.
    pub hedge: HedgeSpec,
}

impl FlowSpec {
    /// Synthetic flow from time zero without end, on queue 0.
    pub fn synthetic(name: &str, synthetic: SyntheticSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Synthetic(synthetic))
    }

    /// Flow that writes zones, from time zero without end, on queue 0.
    pub fn zones(name: &str, zones: ZoneFlowSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Zones(zones))
    }

    /// Replay of a whole trace from time zero, on queue 0.
    pub fn trace(name: &str, trace: TraceSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Trace(trace))
    }

    /// Whole statistical twin from time zero, on queue 0.
    pub fn twin(name: &str, twin: TwinSpec) -> FlowSpec {
        FlowSpec::of(name, Source::Twin(twin))
    }

    /// Whether completions trigger the next requests, so that the device determines the rate.
    pub fn is_closed(&self) -> bool {
        match &self.source {
            Source::Synthetic(of) => matches!(of.pacing, SyntheticPacing::Closed { .. }),
            Source::Zones(of) => matches!(of.pacing, SyntheticPacing::Closed { .. }),
            Source::Trace(of) => matches!(of.pacing, TracePacing::Closed { .. }),
            Source::Twin(_) => false,
        }
    }

    fn of(name: &str, source: Source) -> FlowSpec {
        FlowSpec {
            name: name.to_owned(),
            source,
            start: SimTime::ZERO,
            stop: None,
            limit: None,
            queue: 0,
            namespace: 0,
            handle: None,
            hedge: HedgeSpec::default(),
        }
    }
}

/// Source of the requests of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// Generated from distributions.
    Synthetic(SyntheticSpec),
    /// Generated for the zones of a zoned drive.
    Zones(ZoneFlowSpec),
    /// Read from a block trace.
    Trace(TraceSpec),
    /// Generated to match the statistics of a trace.
    Twin(TwinSpec),
}

/// Condition for taking the next request from a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Fewer than `depth` requests of the flow are outstanding.
    Closed {
        /// Number of outstanding requests; at least 1.
        depth: u32,
    },
    /// The arrival time from [`crate::Flow::next`] is reached, whatever the number of outstanding requests.
    Open,
}

/// What a request requires beyond its arrival.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Terms {
    /// Pause of a closed flow before the request.
    pub wait: Duration,
    /// Request that is submitted when this one has completed: the flush of a write, or the write of a flush.
    pub then: Option<Request>,
}

impl From<TracePacing> for Pacing {
    fn from(of: TracePacing) -> Pacing {
        match of {
            TracePacing::Recorded { .. } => Pacing::Open,
            TracePacing::Closed { depth } => Pacing::Closed { depth },
        }
    }
}
