//! Replay of a trace: the second pass, which returns the requests.

use super::input::Input;
use super::layout::Layout;
use super::problem::TraceProblem;
use super::scan::FirstReading;
use super::spec::{TracePacing, TraceSpec};
use super::stream::RowStream;
use super::summary::TraceSummary;
use crate::batching::PREFETCH_BATCH;
use crate::error::WorkloadError;
use crate::spec::Pacing;
use interpulse_engine::{PrefetchDistance, Request, SimTime};

/// Read-ahead in requests: parsing in batches keeps the data of the simulator in the cache.
const AHEAD: usize = 256;

pub(crate) struct Replay {
    input: Input,
    rows: RowStream,
    layout: Layout,
    pacing: TracePacing,
    start: SimTime,
    /// Requests read ahead, each with whether it exceeded the drive; `taken` of them are returned.
    ahead: Vec<(SimTime, Request, bool)>,
    taken: usize,
    read: u64,
    ended: bool,
    summary: TraceSummary,
    first: FirstReading,
}

impl Replay {
    /// Scans the whole file, unless `first` holds a valid scan, and reopens it at its start, for the flow of this
    /// index.
    pub fn open(
        spec: &TraceSpec,
        flow: u64,
        start: SimTime,
        capacity_sectors: u64,
        first: Option<&FirstReading>,
    ) -> Result<Replay, WorkloadError> {
        let input = Input::file(&spec.path).of_flow(flow);
        let first = first.filter(|first| first.is_of(&input, spec));
        Replay::read(input, spec, start, capacity_sectors, first)
    }

    /// The same for any input; ignores the path in `spec`.
    pub fn from_input(
        input: Input,
        spec: &TraceSpec,
        start: SimTime,
        capacity_sectors: u64,
    ) -> Result<Replay, WorkloadError> {
        Replay::read(input, spec, start, capacity_sectors, None)
    }

    fn read(
        input: Input,
        spec: &TraceSpec,
        start: SimTime,
        capacity_sectors: u64,
        first: Option<&FirstReading>,
    ) -> Result<Replay, WorkloadError> {
        let prepare = || {
            let first = first.cloned().map_or_else(|| FirstReading::of(&input, spec), Ok)?;
            let found = first.found();
            let layout = Layout::new(found, spec.fit, capacity_sectors)?;
            let rows = RowStream::again(&input, spec, found.detected.clone(), found.devices.clone())?;
            Ok((rows, layout, first))
        };
        match prepare() {
            Ok((rows, layout, first)) => Ok(Replay {
                input,
                rows,
                layout,
                pacing: spec.pacing,
                start,
                ahead: Vec::with_capacity(AHEAD),
                taken: 0,
                read: 0,
                ended: false,
                summary: first.found().summary.clone(),
                first,
            }),
            Err(problem) => Err(WorkloadError::Trace(Box::new(input.error(problem)))),
        }
    }

    #[inline]
    pub fn next(
        &mut self,
        mut hint: impl FnMut(&Request, PrefetchDistance),
    ) -> Result<Option<(SimTime, Request)>, WorkloadError> {
        if self.taken == self.ahead.len() {
            self.refill().map_err(|problem| WorkloadError::Trace(Box::new(self.input.error(problem))))?;
        }
        if self.taken.is_multiple_of(PREFETCH_BATCH) {
            let coming = self.ahead[self.taken..].iter().map(|(_, request, _)| request);
            let hinted_before = if self.taken == 0 { 0 } else { PREFETCH_BATCH };
            coming
                .clone()
                .take(2 * PREFETCH_BATCH)
                .skip(hinted_before)
                .for_each(|request| hint(request, PrefetchDistance::Far));
            coming.take(PREFETCH_BATCH).for_each(|request| hint(request, PrefetchDistance::Near));
        }
        let Some(&(at, request, beyond)) = self.ahead.get(self.taken) else { return Ok(None) };
        self.taken += 1;
        self.summary.replayed += 1;
        self.summary.beyond += u64::from(beyond);
        Ok(Some((at, request)))
    }

    /// Reads up to [`AHEAD`] requests ahead; none at the end of the trace.
    #[cold]
    fn refill(&mut self) -> Result<(), TraceProblem> {
        self.ahead.clear();
        self.taken = 0;
        while !self.ended && self.ahead.len() < AHEAD {
            match self.rows.next()? {
                Some(row) => {
                    self.read += 1;
                    let placed = self.layout.place(row.device, row.sector, row.sectors);
                    let placed = placed.ok_or(TraceProblem::Changed { line: row.line })?;
                    let request = Request { op: row.op, sector: placed.sector, sectors: row.sectors };
                    self.ahead.push((self.arrival(row.at_ns), request, placed.beyond));
                }
                None => self.ended = true,
            }
        }
        if self.read > self.summary.rows || self.ended && self.read < self.summary.rows {
            return Err(TraceProblem::Changed { line: self.rows.position() });
        }
        Ok(())
    }

    fn arrival(&self, at_ns: u64) -> SimTime {
        match self.pacing {
            TracePacing::Closed { .. } => self.start,
            TracePacing::Recorded { speed: 1.0 } => SimTime(self.start.as_ns().saturating_add(at_ns)),
            // Rounded down, which preserves the order of arrivals.
            TracePacing::Recorded { speed } => {
                SimTime(self.start.as_ns().saturating_add((at_ns as f64 / speed) as u64))
            }
        }
    }

    pub fn pacing(&self) -> Pacing {
        self.pacing.into()
    }

    pub fn summary(&self) -> &TraceSummary {
        &self.summary
    }

    /// First pass over the trace, for further replays of the same file.
    pub fn first(&self) -> &FirstReading {
        &self.first
    }
}
