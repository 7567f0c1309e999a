//! What a run writes down besides its result: a row for each request, a row for each window of time, what dies and buses did
//! in chosen stretches of time.
//!
//! A [`Recorder`] observes the requests at the device's door ([`interpulse_host::Observer`]) and looks into the device at
//! instants that it names ([`Recording`]). A run that records nothing is observed by [`()`](unit): it is compiled apart and
//! pays for none of this. Rows leave in chunks of columns ([`Outbox`]), which whoever started the run takes and stores.

mod columns;
mod fio;
mod follow;
mod outbox;
mod requests;
mod row;
mod series;
mod slices;
mod slowest;
mod spec;
mod timeline;

pub use columns::{Column, Data};
pub use outbox::{Chunk, Outbox};
pub use spec::RecordSpec;

use crate::config::Case;
use crate::simulated::Simulated;
use fio::FioLog;
use interpulse_engine::SimTime;
use interpulse_host::{Ended, Observer, Submitted};
use outbox::Sender;
use requests::RequestLog;
use row::{NOT_OPEN, Open, Row};
use series::Series;
use slowest::Slowest;
use std::sync::Arc;
use timeline::Timeline;

/// Who observes a run and looks into its device, too.
pub trait Recording: Observer {
    /// When to look into the device next.
    #[inline]
    fn next_look(&self) -> SimTime {
        SimTime(u64::MAX)
    }
    /// Looks into the device at an instant that was asked for: all events up to it have been handled, and none later.
    fn look<D: Simulated>(&mut self, _device: &mut D, _at: SimTime) {}
    /// Nothing that may still happen is of interest.
    #[inline]
    fn is_done(&self) -> bool {
        false
    }
    /// The measurement window begins.
    fn window_begins<D: Simulated>(&mut self, _device: &mut D, _at: SimTime) {}
    /// The measurement window ends.
    fn window_ends<D: Simulated>(&mut self, _device: &mut D, _at: SimTime) {}
}

impl Recording for () {}

impl<R: Recording> Recording for &mut R {
    #[inline]
    fn next_look(&self) -> SimTime {
        (**self).next_look()
    }
    fn look<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        (**self).look(device, at);
    }
    #[inline]
    fn is_done(&self) -> bool {
        (**self).is_done()
    }
    fn window_begins<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        (**self).window_begins(device, at);
    }
    fn window_ends<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        (**self).window_ends(device, at);
    }
}

/// Records a run.
pub struct Recorder {
    /// Requests by the device's numbers.
    open: Vec<Open>,
    /// The beginning of the measurement window, while it lasts.
    start: Option<SimTime>,
    /// Requests that have ended in the window.
    ended: u64,
    /// The run ends with the timeline.
    only_timeline: bool,
    requests: Option<RequestLog>,
    fio: Option<FioLog>,
    series: Option<Series>,
    slowest: Option<Slowest>,
    timeline: Option<Timeline>,
    sender: Sender,
}

impl Recorder {
    /// Records case number `index` as `spec` says.
    pub fn new(spec: &RecordSpec, case: &Case, index: usize, outbox: &Arc<Outbox>) -> Recorder {
        let sender = Sender::new(index, outbox);
        let mut flows: Vec<String> = case.flows.iter().map(|flow| flow.name.clone()).collect();
        // What runs before a trace may have requests outstanding when the window begins.
        flows.push("warmup".into());
        // Only drives keep accounts of requests.
        let accounts = case.array.is_none();
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

    /// Sends what has not been sent; `whole` if the run came to its end.
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
        let id = submitted.id.index();
        if id >= self.open.len() {
            self.open.resize(id + 1, NOT_OPEN);
        }
        let Submitted { at, tag, request, .. } = *submitted;
        self.open[id] = Open {
            at,
            op: request.op,
            tag,
            sector: request.sector,
            bytes: request.bytes().get(),
            live: true,
        };
        if let Some(series) = &mut self.series {
            series.depth_changes(at, 1);
        }
    }

    #[inline]
    fn request_ended(&mut self, ended: &Ended) {
        let open = &mut self.open[ended.of.id.index()];
        open.live = false;
        let sector = open.sector;
        if let Some(series) = &mut self.series {
            series.depth_changes(ended.at, -1);
        }
        let Some(start) = self.start else { return };
        let arrival = ended.of.submitted.as_ns() as i64 - start.as_ns() as i64;
        let row = Row { number: self.ended, arrival, address: sector * 512, ended };
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
    fn next_look(&self) -> SimTime {
        let series = self.series.as_ref().map_or(SimTime(u64::MAX), Series::next_look);
        series.min(self.timeline.as_ref().map_or(SimTime(u64::MAX), Timeline::next_look))
    }

    fn look<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        if let Some(series) = self.series.as_mut().filter(|series| series.next_look() <= at) {
            series.look(device, at);
        }
        if let Some(timeline) = self.timeline.as_mut().filter(|timeline| timeline.next_look() <= at) {
            timeline.look(device, at, &self.open);
        }
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.only_timeline && self.timeline.as_ref().is_none_or(Timeline::is_over)
    }

    fn window_begins<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        self.start = Some(at);
        if let Some(series) = &mut self.series {
            series.begin(device, at);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(device, at);
        }
    }

    fn window_ends<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        if let Some(series) = &mut self.series {
            series.end(device, at);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.end(device, at, &self.open);
        }
        self.start = None;
    }
}
