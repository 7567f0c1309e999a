//! Recording of a run: request rows, time series, slowest requests, and timelines of dies and buses.
//!
//! A [`Recorder`] observes requests at the device interface ([`interpulse_host::Observer`]) and samples the device
//! at instants that it names ([`Recording`]). A run without recording uses [`()`](unit), which compiles separately
//! at no cost. Rows leave in batches of columns ([`RowBatches`]) that the owner of the run takes and stores.

mod columns;
mod die_tracer;
mod fio;
mod request_row;
mod requests;
mod row_batches;
mod series;
mod slowest;
mod spec;
mod timeline;
mod timeline_slices;

pub use columns::{Column, Data};
pub use row_batches::{RowBatch, RowBatches};
pub use spec::RecordSpec;

use crate::config::Case;
use crate::run_target::RunTarget;
use fio::FioLog;
use interpulse_engine::SimTime;
use interpulse_engine::account::CAUSES;
use interpulse_host::{Ended, Observer, Submitted};
use request_row::{NO_REQUEST, OpenRequest, RequestRow};
use requests::RequestLog;
use row_batches::BatchSender;
use series::Series;
use slowest::Slowest;
use std::sync::Arc;
use timeline::Timeline;

/// Observer of a run that also samples its device.
pub trait Recording: Observer {
    /// Instant of the next sample.
    #[inline]
    fn next_sample(&self) -> SimTime {
        SimTime(u64::MAX)
    }
    /// Samples the device at [`Recording::next_sample`]: all events up to `at` are done, and no later ones.
    fn sample<D: RunTarget>(&mut self, _device: &mut D, _at: SimTime) {}
    /// No further event is of interest.
    #[inline]
    fn is_done(&self) -> bool {
        false
    }
    /// Start of the measurement window.
    fn window_begins<D: RunTarget>(&mut self, _device: &mut D, _at: SimTime) {}
    /// End of the measurement window.
    fn window_ends<D: RunTarget>(&mut self, _device: &mut D, _at: SimTime) {}
}

impl Recording for () {}

impl<R: Recording> Recording for &mut R {
    #[inline]
    fn next_sample(&self) -> SimTime {
        (**self).next_sample()
    }
    fn sample<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        (**self).sample(device, at);
    }
    #[inline]
    fn is_done(&self) -> bool {
        (**self).is_done()
    }
    fn window_begins<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        (**self).window_begins(device, at);
    }
    fn window_ends<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        (**self).window_ends(device, at);
    }
}

/// Recorder of a run.
pub struct Recorder {
    /// Requests by device request id.
    open: Vec<OpenRequest>,
    /// Start of the measurement window while it lasts.
    start: Option<SimTime>,
    /// Requests that ended in the window.
    ended: u64,
    /// The run ends with the timeline.
    only_timeline: bool,
    requests: Option<RequestLog>,
    fio: Option<FioLog>,
    series: Option<Series>,
    slowest: Option<Slowest>,
    timeline: Option<Timeline>,
    sender: BatchSender,
}

impl Recorder {
    /// Records case `index` according to `spec`.
    pub fn new(spec: &RecordSpec, case: &Case, index: usize, batches: &Arc<RowBatches>) -> Recorder {
        let sender = BatchSender::new(index, batches);
        let mut flows: Vec<String> = case.flows.iter().map(|flow| flow.name.clone()).collect();
        // The warm-up flow may have requests outstanding when the window starts.
        flows.push("warmup".into());
        // Only drives keep time accounts of requests.
        let accounts = match (&case.array, &case.drive.read_cache) {
            (Some(_), _) => 0,
            (None, None) => CAUSES - 1,
            (None, Some(_)) => CAUSES,
        };
        Recorder {
            open: Vec::new(),
            start: None,
            ended: 0,
            only_timeline: spec.only_timeline,
            requests: spec.requests.map(|every| RequestLog::new(every, &flows, accounts, sender.clone())),
            fio: spec.fio.map(|every| FioLog::new(every, flows.len(), sender.clone())),
            series: spec.series.map(|length| Series::new(length, sender.clone())),
            slowest: spec.slowest.map(|(most, op)| Slowest::new(most, op, &flows, accounts, sender.clone())),
            timeline: (!spec.timeline.is_empty())
                .then(|| Timeline::new(spec.timeline.clone(), &flows, sender.clone())),
            sender,
        }
    }

    /// Keeps a request, if it has a number, which it has since `now`.
    #[inline]
    fn open(&mut self, now: SimTime, submitted: &Submitted) {
        let Submitted { at, id: Some(id), tag, request } = *submitted else { return };
        let open = OpenRequest {
            at,
            numbered: now,
            op: request.op,
            tag,
            sector: request.sector,
            bytes: request.bytes().get(),
            live: true,
        };
        if id.index() >= self.open.len() {
            self.open.resize(id.index() + 1, NO_REQUEST);
        }
        self.open[id.index()] = open;
    }

    /// Sends all remaining rows; `whole` if the run completed.
    pub fn finish(&mut self, whole: bool) {
        if let Some(log) = &mut self.requests {
            log.flush();
        }
        if let Some(log) = &mut self.fio {
            log.flush();
        }
        if let Some(series) = &mut self.series {
            series.flush();
        }
        if let Some(slowest) = &mut self.slowest {
            slowest.flush();
        }
        self.sender.end(self.ended, whole);
    }
}

impl Observer for Recorder {
    #[inline]
    fn request_submitted(&mut self, submitted: &Submitted) {
        self.open(submitted.at, submitted);
        if let Some(series) = &mut self.series {
            series.depth_changes(submitted.at, 1);
        }
    }

    fn request_entered(&mut self, now: SimTime, submitted: &Submitted) {
        self.open(now, submitted);
    }

    #[inline]
    fn request_ended(&mut self, ended: &Ended) {
        let open = &mut self.open[ended.of.id.index()];
        open.live = false;
        let OpenRequest { sector, numbered, .. } = *open;
        if let Some(series) = &mut self.series {
            series.depth_changes(ended.at, -1);
        }
        let Some(start) = self.start else { return };
        let arrival = ended.of.submitted.as_ns() as i64 - start.as_ns() as i64;
        let row = RequestRow { number: self.ended, arrival, numbered, address: sector * 512, ended };
        self.ended += 1;
        if let Some(log) = &mut self.requests {
            log.take(&row);
        }
        if let Some(log) = &mut self.fio {
            log.take(&row, start);
        }
        if let Some(series) = &mut self.series {
            series.take(ended);
        }
        if let Some(slowest) = &mut self.slowest {
            slowest.take(&row);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.take(&row);
        }
    }
}

impl Recording for Recorder {
    #[inline]
    fn next_sample(&self) -> SimTime {
        let series = self.series.as_ref().map_or(SimTime(u64::MAX), Series::next_sample);
        series.min(self.timeline.as_ref().map_or(SimTime(u64::MAX), Timeline::next_sample))
    }

    fn sample<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        if let Some(series) = self.series.as_mut().filter(|series| series.next_sample() <= at) {
            series.sample(device, at);
        }
        if let Some(timeline) = self.timeline.as_mut().filter(|timeline| timeline.next_sample() <= at) {
            timeline.sample(device, at, &self.open);
        }
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.only_timeline && self.timeline.as_ref().is_none_or(Timeline::is_over)
    }

    fn window_begins<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.start = Some(at);
        if let Some(series) = &mut self.series {
            series.begin(device, at);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(device, at);
        }
    }

    fn window_ends<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        if let Some(series) = &mut self.series {
            series.end(device, at);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.end(device, at, &self.open);
        }
        self.start = None;
    }
}
