//! Running flow: the requests of one source, returned one at a time.

use crate::error::{Illegal, WorkloadError};
use crate::spec::{FlowSpec, Pacing, Source, Terms};
use crate::synthetic::Synthetic;
use crate::synthetic::zones::ZoneFlow;
use crate::trace::replay::Replay;
use crate::trace::scan::FirstReading;
use crate::trace::summary::TraceSummary;
use crate::twin::Twin;
use interpulse_engine::{PrefetchDistance, Request, SimTime, Streams};

/// Stream of requests of one source.
pub struct Flow {
    running: Running,
    issued: u64,
    /// Number of requests to return; reduced to `issued` when the source is exhausted.
    limit: u64,
    /// First instant without arrivals.
    stop: SimTime,
    start: SimTime,
    queue: u32,
    handle: u8,
    name: String,
    configured_stop: Option<SimTime>,
    /// Terms of the request returned last; `None` for a flow whose requests have none.
    terms: Option<Terms>,
}

enum Running {
    Synthetic(Box<Synthetic>),
    Zones(Box<ZoneFlow>),
    Trace(Box<Replay>),
    Twin(Box<Twin>),
}

impl Flow {
    /// Prepares the flow for a drive of `capacity_sectors` 512-byte sectors.
    ///
    /// `instance` keys the random streams: flows with equal descriptions and different instances are independent. A
    /// trace file is scanned completely here, so that its faults are reported before simulated time starts.
    ///
    /// Errors: an illegal value in `spec`, or a fault of the trace file.
    pub fn new(
        spec: &FlowSpec,
        capacity_sectors: u64,
        streams: &Streams,
        instance: u64,
    ) -> Result<Flow, WorkloadError> {
        Flow::with_reading(spec, capacity_sectors, streams, instance, None)
    }

    /// Like [`Flow::new`]; skips the scan of a trace that `first` has scanned if the file is unchanged.
    pub fn with_reading(
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
            Source::Zones(of) => {
                let zones = ZoneFlow::new(of, start, capacity, streams, instance);
                Running::Zones(Box::new(zones.map_err(in_flow)?))
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
        // A flow of vector commands has no other terms than its addresses.
        let has_terms = match &running {
            Running::Trace(replay) => replay.has_terms(),
            Running::Zones(zones) => zones.has_vectors(),
            Running::Synthetic(_) | Running::Twin(_) => false,
        };
        let terms = has_terms.then(Terms::default);
        Ok(Flow {
            running,
            terms,
            issued: 0,
            limit: spec.limit.unwrap_or(u64::MAX),
            stop: spec.stop.unwrap_or(SimTime(u64::MAX)),
            start: spec.start,
            queue: spec.queue,
            handle: spec.handle.unwrap_or(0),
            name: spec.name.clone(),
            configured_stop: spec.stop,
        })
    }

    /// Returns the next request with its arrival time, or `None` once the flow is exhausted.
    ///
    /// Arrival times never decrease. All arrival times of a closed flow equal its start: the owner of the flow
    /// decides when the queue has a free slot.
    ///
    /// Errors: the trace file changed or became unreadable after [`Flow::new`] checked it.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator of results cannot say `?` at the call")]
    pub fn next(&mut self) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        self.next_with_hints(|_, _| {})
    }

    /// Like [`Flow::next`], with prefetch hints: calls `hint` for every request with [`PrefetchDistance::Far`] and then with
    /// [`PrefetchDistance::Near`], at the latest when the request is returned and for most requests earlier, in batches. A flow
    /// that ends may have hinted at requests that it does not return.
    #[inline(always)]
    pub fn next_with_hints(
        &mut self,
        mut hint: impl FnMut(&Request, PrefetchDistance),
    ) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        if self.issued == self.limit {
            return Ok(None);
        }
        let next = match &mut self.running {
            Running::Synthetic(synthetic) => synthetic.next(hint),
            Running::Trace(replay) => replay.next(hint)?,
            Running::Twin(twin) => twin.next().inspect(|(_, request)| hint_at_once(request, &mut hint)),
            Running::Zones(zones) => zones.next().inspect(|(_, request)| hint_at_once(request, &mut hint)),
        };
        match next {
            Some((at, request)) if at < self.stop => {
                self.issued += 1;
                if self.terms.is_some() {
                    self.count_terms();
                }
                Ok(Some((at, request)))
            }
            _ => {
                self.limit = self.issued;
                Ok(None)
            }
        }
    }

    /// Counts the request that follows the one returned last, unless the limit is reached.
    #[cold]
    fn count_terms(&mut self) {
        let Running::Trace(replay) = &self.running else { return };
        let mut terms = replay.terms();
        if self.issued == self.limit {
            terms.then = None;
        }
        self.issued += u64::from(terms.then.is_some());
        self.terms = Some(terms);
    }

    /// Terms of the request returned last; `None` for a flow whose requests have none.
    #[inline]
    pub fn terms(&self) -> Option<Terms> {
        self.terms
    }

    /// Addresses, in sectors, of the request returned last, if it is a vector command.
    pub fn addresses(&self) -> &[u64] {
        if let Running::Zones(zones) = &self.running { zones.addresses() } else { &[] }
    }

    /// Condition for requesting the next request.
    pub fn pacing(&self) -> Pacing {
        match &self.running {
            Running::Synthetic(synthetic) => synthetic.pacing(),
            Running::Trace(replay) => replay.pacing(),
            Running::Twin(twin) => twin.pacing(),
            Running::Zones(zones) => zones.pacing(),
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

    /// Placement handle of its writes.
    pub fn handle(&self) -> u8 {
        self.handle
    }

    /// Start of the flow.
    pub fn start(&self) -> SimTime {
        self.start
    }

    /// Instant from which the flow issues no requests, if set. The owner of a closed flow has to stop at it; an open
    /// flow ends by itself.
    pub fn stop(&self) -> Option<SimTime> {
        self.configured_stop
    }

    /// Number of requests returned, those that follow them included.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// First pass over the trace; `None` for a flow without a file.
    pub fn first_reading(&self) -> Option<&FirstReading> {
        match &self.running {
            Running::Synthetic(_) | Running::Twin(_) | Running::Zones(_) => None,
            Running::Trace(replay) => Some(replay.first()),
        }
    }

    /// Summary of the first pass over the trace; `None` for a flow without a file.
    pub fn trace_summary(&self) -> Option<&TraceSummary> {
        match &self.running {
            Running::Synthetic(_) | Running::Twin(_) | Running::Zones(_) => None,
            Running::Trace(replay) => Some(replay.summary()),
        }
    }
}

/// Passes both hints of a request of a source that makes one at a time.
#[inline]
fn hint_at_once(request: &Request, hint: &mut impl FnMut(&Request, PrefetchDistance)) {
    [PrefetchDistance::Far, PrefetchDistance::Near].into_iter().for_each(|ahead| hint(request, ahead));
}

fn check(spec: &FlowSpec, capacity_sectors: u64) -> Result<(), Illegal> {
    let some = (1..=crate::trace::limits::SECTORS_MAX).contains(&capacity_sectors);
    Illegal::unless(some, "capacity_sectors", capacity_sectors, "1 to 2^44 sectors (8 PiB)")?;
    if let Some(stop) = spec.stop.filter(|&stop| stop <= spec.start) {
        return Err(Illegal::new("stop", stop, format!("later than `start`, which is {}", spec.start)));
    }
    Illegal::unless(spec.limit != Some(0), "limit", 0, "at least 1 request, or none for no limit")
}

/// Flows must be `Send`: sweeps move runs to other threads.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Flow>();
};
