//! Timeline: dies, buses, queues and requests during chosen intervals of a run.

use super::columns::{Column, NOTHING, list};
use super::die_tracer::{DieTracer, POLL_INTERVAL, relative_ns};
use super::request_row::{OpenRequest, RequestRow};
use super::requests::{KINDS, kind_of};
use super::row_batches::BatchSender;
use super::timeline_slices::{DieSlices, bus_slices, queue_lengths};
use crate::run_target::RunTarget;
use interpulse_drive::Drive;
use interpulse_engine::{Device, Duration, RequestId, SimTime};
use interpulse_flash::DieId;
use std::collections::HashMap;
use std::sync::Arc;

/// Most changes per interval: a few hundred MB, more than any viewer needs.
const MOST: usize = 2_000_000;

/// A request during a traced interval.
struct Seen {
    /// Its number and since when it has it; `None` while it waits in the host.
    id: Option<(RequestId, i64)>,
    /// Relative to the start of the measurement window, as all times.
    arrival: i64,
    end: Option<i64>,
    number: i64,
    flow: i32,
    kind: i32,
    address: u64,
    bytes: u64,
}

/// All intervals, with the current one.
pub struct Timeline {
    /// Intervals not started.
    intervals: std::vec::IntoIter<[Duration; 2]>,
    window: i64,
    start: SimTime,
    /// Next or current interval.
    next: Option<[SimTime; 2]>,
    following: Option<Vec<DieTracer>>,
    sample_at: SimTime,
    seen: Vec<Seen>,
    flows: Arc<[String]>,
    sender: BatchSender,
}

impl Timeline {
    /// Timeline of these intervals, in order.
    pub fn new(intervals: Vec<[Duration; 2]>, flows: &[String], sender: BatchSender) -> Timeline {
        Timeline {
            intervals: intervals.into_iter(),
            window: -1,
            start: SimTime::ZERO,
            next: None,
            following: None,
            sample_at: SimTime(u64::MAX),
            seen: Vec::new(),
            flows: flows.into(),
            sender,
        }
    }

    /// Instant of the next sample.
    #[inline]
    pub fn next_sample(&self) -> SimTime {
        self.sample_at
    }

    /// All intervals have ended.
    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.intervals.len() == 0
    }

    /// Start of the measurement window.
    pub fn begin<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.start = at;
        self.choose();
        if self.sample_at <= at {
            self.follow(device, at);
        }
    }

    fn choose(&mut self) {
        self.next = self.intervals.next().map(|of| of.map(|t| self.start + t));
        self.window += 1;
        self.sample_at = self.next.map_or(SimTime(u64::MAX), |[from, _]| from);
    }

    fn follow<D: RunTarget>(&mut self, device: &mut D, at: SimTime) {
        self.following = Some(device.drives_mut().iter_mut().map(|d| DieTracer::begin(d, at)).collect());
        self.schedule_sample(at);
    }

    fn schedule_sample(&mut self, at: SimTime) {
        let [_, to] = self.next.expect("an interval is under way");
        self.sample_at = to.min(at + POLL_INTERVAL);
    }

    /// Collects events; starts or ends an interval.
    pub fn sample<D: RunTarget>(&mut self, device: &mut D, at: SimTime, open: &[OpenRequest]) {
        let Some([_, to]) = self.next else { return };
        let Some(following) = &mut self.following else {
            self.follow(device, at);
            return;
        };
        for (drive, tracer) in device.drives_mut().iter_mut().zip(&mut *following) {
            drive.nand_mut().notify(tracer);
        }
        let kept: usize = following.iter().map(|tracer| tracer.kept).sum();
        if at >= to || kept > MOST {
            self.close(device, at, open);
            self.choose();
        } else {
            self.schedule_sample(at);
        }
    }

    /// End of the measurement window.
    pub fn end<D: RunTarget>(&mut self, device: &mut D, at: SimTime, open: &[OpenRequest]) {
        if self.following.is_some() {
            self.close(device, at, open);
        }
        (self.next, self.sample_at) = (None, SimTime(u64::MAX));
    }

    /// Records an ended request.
    #[inline]
    pub fn take(&mut self, row: &RequestRow) {
        if self.following.is_some() {
            let of = &row.ended.of;
            self.seen.push(Seen {
                id: Some((of.id, relative_ns(self.start, row.numbered))),
                arrival: row.arrival,
                end: Some(relative_ns(self.start, row.ended.at)),
                number: row.number as i64,
                flow: of.tag.0 as i32,
                kind: kind_of(of.op),
                address: row.address,
                bytes: of.bytes,
            });
        }
    }

    /// Ends the current interval and sends its rows.
    fn close<D: RunTarget>(&mut self, device: &mut D, at: SimTime, open: &[OpenRequest]) {
        let mut tracers = self.following.take().expect("an interval is under way");
        for (drive, tracer) in device.drives_mut().iter_mut().zip(&mut tracers) {
            tracer.end(drive, at);
        }
        let from = tracers[0].from;
        for (id, open) in (0..).map(RequestId).zip(open).filter(|(_, open)| open.live) {
            self.seen.push(Seen {
                id: Some((id, relative_ns(self.start, open.numbered))),
                arrival: relative_ns(self.start, open.at),
                end: None,
                number: NOTHING,
                flow: open.tag.0 as i32,
                kind: kind_of(open.op),
                address: open.sector * 512,
                bytes: open.bytes,
            });
        }
        let (seen, start) = (&mut self.seen, self.start);
        device.for_waiting(&mut |waiting| {
            seen.push(Seen {
                id: None,
                arrival: relative_ns(start, waiting.submitted),
                end: None,
                number: NOTHING,
                flow: waiting.tag.0 as i32,
                kind: kind_of(waiting.request.op),
                address: waiting.request.sector * 512,
                bytes: waiting.request.bytes().get(),
            });
        });
        let number_of = |seen: &Seen| seen.id.map_or(u32::MAX, |(id, _)| id.0);
        self.seen.sort_by_key(|seen| (seen.arrival, seen.number, number_of(seen)));
        let mut by_id: HashMap<RequestId, Vec<(i64, usize)>> = HashMap::new();
        // Requests of an array have no ids in its drives.
        if tracers.len() == 1 && D::NAME == Drive::NAME {
            for (k, (id, numbered)) in
                self.seen.iter().enumerate().filter_map(|(k, seen)| Some((k, seen.id?)))
            {
                by_id.entry(id).or_default().push((numbered, k));
            }
            // A request that waited is as late as its number.
            by_id.values_mut().for_each(|of| of.sort_by_key(|&(numbered, _)| numbered));
        }
        let whose = |id: RequestId, at: i64| {
            let of = by_id.get(&id)?;
            of.iter().rev().find(|(numbered, _)| *numbered <= at).map(|&(_, k)| k)
        };
        let (start, window) = (self.start, self.window);
        for (d, tracer) in (0..).zip(&tracers) {
            let mut slices = DieSlices::new(window, d, start, from);
            slices.add(tracer, &whose);
            let (rows, columns) = slices.take();
            self.sender.send("timeline.dies", rows, columns);
            let channel_of = |die: DieId| device.drives()[d as usize].spec().geometry.channel_of(die);
            let (rows, columns) = bus_slices(tracer, window, d, start, at, &channel_of);
            self.sender.send("timeline.buses", rows, columns);
            let (rows, columns) = queue_lengths(tracer, window, d, start);
            self.sender.send("timeline.queues", rows, columns);
        }
        let rows = self.seen.len();
        let seen = std::mem::take(&mut self.seen);
        let whole = |value: &dyn Fn(&Seen) -> i64| seen.iter().map(value).collect::<Vec<i64>>();
        let last = self.flows.len() as i32 - 1;
        let columns = vec![
            Column::whole("window", vec![window; rows]),
            Column::whole("arrival_ns", whole(&|s| s.arrival)),
            Column::whole("end_ns", whole(&|s| s.end.unwrap_or(NOTHING))),
            Column::whole("number", whole(&|s| s.number)),
            Column::names("flow", seen.iter().map(|s| s.flow.clamp(0, last)).collect(), &self.flows),
            Column::names("kind", seen.iter().map(|s| s.kind).collect(), &list(KINDS)),
            Column::whole("address_bytes", whole(&|s| s.address as i64)),
            Column::whole("size_bytes", whole(&|s| s.bytes as i64)),
        ];
        self.sender.send("timeline.requests", rows, columns);
        let whole = self.next.is_some_and(|[_, to]| at >= to);
        let columns = vec![
            Column::whole("window", vec![window]),
            Column::whole("from_ns", vec![relative_ns(start, from)]),
            Column::whole("to_ns", vec![relative_ns(start, at)]),
            Column::whole("whole", vec![i64::from(whole)]),
        ];
        self.sender.send("timeline.windows", 1, columns);
    }
}
