//! Replay of a trace: the second pass, which returns the requests.

use super::input::Input;
use super::layout::Layout;
use super::limits::SPAN_NS_MAX;
use super::problem::TraceProblem;
use super::row::WithFlush;
use super::scan::FirstReading;
use super::spec::{TracePacing, TraceSpec};
use super::stream::{Row, RowStream};
use super::summary::TraceSummary;
use crate::batching::PREFETCH_BATCH;
use crate::error::WorkloadError;
use crate::spec::{Pacing, Terms};
use interpulse_engine::{Duration, Op, PrefetchDistance, Request, SimTime};

/// Read-ahead in requests: parsing in batches keeps the data of the simulator in the cache.
const AHEAD: usize = 256;

pub(crate) struct Replay {
    input: Input,
    rows: RowStream,
    layout: Layout,
    spec: TraceSpec,
    start: SimTime,
    /// Requests read ahead; `taken` of them are returned.
    ahead: Vec<Ahead>,
    taken: usize,
    /// Rows of the current pass.
    read: u64,
    /// Passes that have ended.
    passes: u32,
    /// Time from the start of one pass to the start of the next, as recorded.
    period_ns: u64,
    /// Terms of the request returned last.
    terms: Terms,
    ended: bool,
    summary: TraceSummary,
    first: FirstReading,
}

#[derive(Clone, Copy)]
struct Ahead {
    at: SimTime,
    request: Request,
    /// Whether a row exceeded the drive; counted with its first request.
    beyond: bool,
    terms: Terms,
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
            let format = &found.detected.format;
            if !format.has_times() && matches!(spec.pacing, TracePacing::Recorded { .. }) {
                return Err(TraceProblem::Untimed { format: format.name() });
            }
            let layout = Layout::new(found, spec.fit, spec.repeat, capacity_sectors)?;
            let period_ns = period(&found.summary, spec)?;
            let rows = found.rows(&input, spec)?;
            Ok((rows, layout, period_ns, first))
        };
        match prepare() {
            Ok((rows, layout, period_ns, first)) => Ok(Replay {
                input,
                spec: spec.clone(),
                rows,
                layout,
                start,
                ahead: Vec::with_capacity(AHEAD),
                taken: 0,
                read: 0,
                passes: 0,
                period_ns,
                terms: Terms::default(),
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
            let coming = self.ahead[self.taken..].iter().map(|ahead| &ahead.request);
            let hinted_before = if self.taken == 0 { 0 } else { PREFETCH_BATCH };
            coming
                .clone()
                .take(2 * PREFETCH_BATCH)
                .skip(hinted_before)
                .for_each(|request| hint(request, PrefetchDistance::Far));
            coming.take(PREFETCH_BATCH).for_each(|request| hint(request, PrefetchDistance::Near));
        }
        let Some(&Ahead { at, request, beyond, terms }) = self.ahead.get(self.taken) else { return Ok(None) };
        self.taken += 1;
        self.terms = terms;
        self.summary.replayed += 1 + u64::from(terms.then.is_some());
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
                Some(row) => self.read_row(&row)?,
                None if self.read != self.summary.rows => self.ended = true,
                None => {
                    self.passes += 1;
                    self.ended = self.passes == self.spec.repeat.passes;
                    if !self.ended {
                        self.rows = self.first.found().rows(&self.input, &self.spec)?;
                        self.read = 0;
                    }
                }
            }
        }
        if self.read > self.summary.rows || self.ended && self.read < self.summary.rows {
            return Err(TraceProblem::Changed { line: self.rows.position() });
        }
        Ok(())
    }

    fn read_row(&mut self, row: &Row) -> Result<(), TraceProblem> {
        self.read += 1;
        let at = self.arrival(u64::from(self.passes) * self.period_ns + row.at_ns);
        let (pass, wait) = (self.passes, Duration::from_us(row.wait_us));
        let changed = TraceProblem::Changed { line: row.line };
        let ahead = &mut self.ahead;
        let (mut request, mut beyond) = (Request::FLUSH, false);
        let mut terms = Terms { wait, then: None };
        match row.op {
            Op::Flush => {}
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => {
                unreachable!("a trace has no such command")
            }
            Op::Trim => {
                let first = ahead.len();
                let put = |sector, sectors| {
                    let request = Request::new(Op::Trim, sector, sectors);
                    ahead.push(Ahead { at, request, beyond: false, terms: Terms::default() });
                };
                let placed = self.layout.place_discard(row.device, row.sector, row.sectors, pass, put);
                let beyond = placed.ok_or(changed)?;
                if let Some(first) = ahead.get_mut(first) {
                    (first.beyond, first.terms) = (beyond, terms);
                }
                return Ok(());
            }
            Op::Read | Op::Write => {
                let placed = self.layout.place(row.device, row.sector, row.sectors, pass).ok_or(changed)?;
                request = Request::new(row.op, placed.sector, row.sectors);
                beyond = placed.beyond;
            }
        }
        match row.flush {
            WithFlush::None => {}
            WithFlush::After => terms.then = Some(Request::FLUSH),
            WithFlush::Before => (request, terms.then) = (Request::FLUSH, Some(request)),
        }
        ahead.push(Ahead { at, request, beyond, terms });
        Ok(())
    }

    fn arrival(&self, at_ns: u64) -> SimTime {
        match self.spec.pacing {
            TracePacing::Closed { .. } => self.start,
            TracePacing::Recorded { speed: 1.0 } => SimTime(self.start.as_ns().saturating_add(at_ns)),
            // Rounded down, which preserves the order of arrivals.
            TracePacing::Recorded { speed } => {
                SimTime(self.start.as_ns().saturating_add((at_ns as f64 / speed) as u64))
            }
        }
    }

    /// Whether requests have [terms](Replay::terms).
    pub fn has_terms(&self) -> bool {
        self.summary.waits + self.summary.flushes_of_writes > 0
    }

    /// Terms of the request returned last.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    pub fn pacing(&self) -> Pacing {
        self.spec.pacing.into()
    }

    pub fn summary(&self) -> &TraceSummary {
        &self.summary
    }

    /// First pass over the trace, for further replays of the same file.
    pub fn first(&self) -> &FirstReading {
        &self.first
    }
}

/// Time from the start of one pass to the start of the next: the span and a mean gap. Errors if all passes together last
/// too long.
fn period(summary: &TraceSummary, spec: &TraceSpec) -> Result<u64, TraceProblem> {
    let span_ns = summary.span.as_ns();
    let period_ns = span_ns + span_ns.checked_div(summary.rows - 1).unwrap_or(0);
    let passes = spec.repeat.passes;
    let speed = match spec.pacing {
        TracePacing::Closed { .. } => return Ok(0),
        TracePacing::Recorded { speed } => speed,
    };
    let whole_ns = f64::from(passes) * period_ns as f64;
    // Above 2^63 ns the times before the speed factor would overflow.
    if passes > 1 && (whole_ns / speed > SPAN_NS_MAX as f64 || whole_ns > (1u64 << 63) as f64) {
        return Err(TraceProblem::TooLong { passes, span: summary.span.to_string() });
    }
    Ok(period_ns)
}
