//! A running flow: one request at a time.

use crate::error::{Illegal, WorkloadError};
use crate::spec::{FlowSpec, Pacing, Source};
use crate::synthetic::Synthetic;
use crate::trace::replay::Replay;
use crate::trace::scan::FirstReading;
use crate::trace::summary::TraceSummary;
use crate::twin::Twin;
use interpulse_engine::{PrefetchDistance, Request, SimTime, Streams};

/// One stream of requests, ready to be asked.
pub struct Flow {
    running: Running,
    issued: u64,
    /// Requests to hand out; falls to `issued` when the source is exhausted.
    limit: u64,
    /// First instant at which nothing arrives any more.
    stop: SimTime,
    start: SimTime,
    queue: u32,
    name: String,
    stop_asked: Option<SimTime>,
}

enum Running {
    Synthetic(Box<Synthetic>),
    Trace(Box<Replay>),
    Twin(Box<Twin>),
}

impl Flow {
    /// Makes the flow ready for a drive of `capacity_sectors` 512-byte sectors.
    ///
    /// `instance` keys the flow's random streams: two flows with the same description and different
    /// instances are independent. A trace is read through once here, so that every fault of the file shows
    /// before simulated time starts.
    ///
    /// Errors: an illegal value in `spec`, or anything wrong with the trace file.
    pub fn new(
        spec: &FlowSpec,
        capacity_sectors: u64,
        streams: &Streams,
        instance: u64,
    ) -> Result<Flow, WorkloadError> {
        Flow::known(spec, capacity_sectors, streams, instance, None)
    }

    /// As [`Flow::new`]; a trace that `first` has read through, and which is still the same, is not read through again.
    pub fn known(
        spec: &FlowSpec,
        capacity_sectors: u64,
        streams: &Streams,
        instance: u64,
        first: Option<&FirstReading>,
    ) -> Result<Flow, WorkloadError> {
        let in_flow = |illegal: Illegal| illegal.in_flow(&spec.name);
        check(spec, capacity_sectors).map_err(in_flow)?;
        let (start, capacity) = (spec.start, capacity_sectors);
        let running = match &spec.source {
            Source::Synthetic(of) => {
                let synthetic = Synthetic::new(of, start, capacity, streams, instance);
                Running::Synthetic(Box::new(synthetic.map_err(in_flow)?))
            }
            Source::Trace(trace) => {
                trace.check().map_err(in_flow)?;
                Running::Trace(Box::new(Replay::open(trace, instance, start, capacity, first)?))
            }
            Source::Twin(of) => {
                let twin = Twin::new(of, start, capacity, streams, instance);
                Running::Twin(Box::new(twin.map_err(in_flow)?))
            }
        };
        Ok(Flow {
            running,
            issued: 0,
            limit: spec.limit.unwrap_or(u64::MAX),
            stop: spec.stop.unwrap_or(SimTime(u64::MAX)),
            start: spec.start,
            queue: spec.queue,
            name: spec.name.clone(),
            stop_asked: spec.stop,
        })
    }

    /// The next request with its arrival time, or `None` when the flow is exhausted (and from then on).
    ///
    /// Arrival times never decrease. Those of a closed flow all equal the flow's start: it is the owner who
    /// knows when a place in the queue is free.
    ///
    /// Errors: the trace file changed or became unreadable after [`Flow::new`] checked it.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator of results cannot say `?` at the call")]
    pub fn next(&mut self) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        self.next_telling(|_, _| {})
    }

    /// As [`Flow::next`]; `told` hears of every request, twice, at the latest when it is returned, but of most some ahead
    /// and together. A flow that ends may have told of some that it does not return.
    #[inline]
    pub fn next_telling(
        &mut self,
        mut told: impl FnMut(&Request, PrefetchDistance),
    ) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        if self.issued == self.limit {
            return Ok(None);
        }
        let next = match &mut self.running {
            Running::Synthetic(synthetic) => synthetic.next(told),
            Running::Trace(replay) => replay.next(told)?,
            Running::Twin(twin) => twin.next().inspect(|(_, request)| {
                [PrefetchDistance::Far, PrefetchDistance::Near]
                    .into_iter()
                    .for_each(|ahead| told(request, ahead))
            }),
        };
        match next {
            Some((at, request)) if at < self.stop => {
                self.issued += 1;
                Ok(Some((at, request)))
            }
            _ => {
                self.limit = self.issued;
                Ok(None)
            }
        }
    }

    /// When to ask for the next request.
    pub fn pacing(&self) -> Pacing {
        match &self.running {
            Running::Synthetic(synthetic) => synthetic.pacing(),
            Running::Trace(replay) => replay.pacing(),
            Running::Twin(twin) => twin.pacing(),
        }
    }

    /// Name in results and error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Index of the submission queue pair.
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// When the flow begins.
    pub fn start(&self) -> SimTime {
        self.start
    }

    /// The instant from which the flow asks for nothing more, if one was set. The owner of a closed flow
    /// stops asking then; an open flow ends by itself.
    pub fn stop(&self) -> Option<SimTime> {
        self.stop_asked
    }

    /// Requests handed out so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The first reading of the trace; `None` for a flow without a file.
    pub fn first_reading(&self) -> Option<&FirstReading> {
        match &self.running {
            Running::Synthetic(_) | Running::Twin(_) => None,
            Running::Trace(replay) => Some(replay.first()),
        }
    }

    /// What the first reading of the trace found; `None` for a flow without a file.
    pub fn trace_summary(&self) -> Option<&TraceSummary> {
        match &self.running {
            Running::Synthetic(_) | Running::Twin(_) => None,
            Running::Trace(replay) => Some(replay.summary()),
        }
    }
}

fn check(spec: &FlowSpec, capacity_sectors: u64) -> Result<(), Illegal> {
    let some = (1..=crate::trace::limits::SECTORS_MAX).contains(&capacity_sectors);
    Illegal::unless(some, "capacity_sectors", capacity_sectors, "1 to 2^44 sectors (8 PiB)")?;
    if let Some(stop) = spec.stop.filter(|&stop| stop <= spec.start) {
        return Err(Illegal::new("stop", stop, format!("later than `start`, which is {}", spec.start)));
    }
    Illegal::unless(spec.limit != Some(0), "limit", 0, "at least 1 request, or none for no limit")
}

/// Runs of a sweep go to other threads with their flows.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Flow>();
};
