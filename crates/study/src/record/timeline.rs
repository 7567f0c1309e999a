//! What dies, buses, lines and requests do in chosen stretches of a run.

use super::columns::{Column, NOTHING, list};
use super::follow::{Follower, OFTEN, after};
use super::outbox::Sender;
use super::requests::kind_of;
use super::row::{Open, Row};
use super::slices::{Slices, of_bus, of_queues};
use crate::simulated::Simulated;
use interpulse_drive::drive::Drive;
use interpulse_engine::{Device, Duration, RequestId, SimTime};
use interpulse_flash::DieId;
use std::collections::HashMap;
use std::sync::Arc;

/// Changes that are kept of one stretch: more than anybody looks at, and a few hundred MB.
const MOST: usize = 2_000_000;

/// A request while the drive is followed.
struct Seen {
    id: RequestId,
    /// From the beginning of the measurement window.
    arrival: i64,
    end: Option<i64>,
    number: i64,
    flow: i32,
    kind: i32,
    address: u64,
    bytes: u64,
}

/// The stretches, and the one under way.
pub struct Timeline {
    /// Those that have not ended.
    stretches: std::vec::IntoIter<[Duration; 2]>,
    window: i64,
    start: SimTime,
    /// The stretch that comes or is under way.
    next: Option<[SimTime; 2]>,
    following: Option<Vec<Follower>>,
    look: SimTime,
    seen: Vec<Seen>,
    flows: Arc<[String]>,
    sender: Sender,
}

impl Timeline {
    /// These stretches, in order.
    pub fn new(stretches: Vec<[Duration; 2]>, flows: &[String], sender: Sender) -> Timeline {
        Timeline {
            stretches: stretches.into_iter(),
            window: -1,
            start: SimTime::ZERO,
            next: None,
            following: None,
            look: SimTime(u64::MAX),
            seen: Vec::new(),
            flows: flows.into(),
            sender,
        }
    }

    /// When to look next.
    #[inline]
    pub fn next_look(&self) -> SimTime {
        self.look
    }

    /// All stretches have passed.
    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.stretches.len() == 0
    }

    /// The measurement window begins.
    pub fn begin<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        self.start = at;
        self.choose();
        if self.look <= at {
            self.follow(device, at);
        }
    }

    fn choose(&mut self) {
        self.next = self.stretches.next().map(|of| of.map(|t| self.start + t));
        self.window += 1;
        self.look = self.next.map_or(SimTime(u64::MAX), |[from, _]| from);
    }

    fn follow<D: Simulated>(&mut self, device: &mut D, at: SimTime) {
        self.following = Some(device.drives_mut().iter_mut().map(|d| Follower::begin(d, at)).collect());
        self.look_later(at);
    }

    fn look_later(&mut self, at: SimTime) {
        let [_, to] = self.next.expect("a stretch is under way");
        self.look = to.min(at + OFTEN);
    }

    /// Takes what has happened; a stretch begins or ends.
    pub fn look<D: Simulated>(&mut self, device: &mut D, at: SimTime, open: &[Open]) {
        let Some([_, to]) = self.next else { return };
        let Some(following) = &mut self.following else {
            self.follow(device, at);
            return;
        };
        for (drive, follower) in device.drives_mut().iter_mut().zip(&mut *following) {
            drive.nand_mut().tell(follower);
        }
        let kept: usize = following.iter().map(|follower| follower.kept).sum();
        if at >= to || kept > MOST {
            self.close(device, at, open);
            self.choose();
        } else {
            self.look_later(at);
        }
    }

    /// The measurement window ends.
    pub fn end<D: Simulated>(&mut self, device: &mut D, at: SimTime, open: &[Open]) {
        if self.following.is_some() {
            self.close(device, at, open);
        }
        (self.next, self.look) = (None, SimTime(u64::MAX));
    }

    /// A request has ended.
    #[inline]
    pub fn take(&mut self, row: &Row) {
        if self.following.is_some() {
            let of = &row.ended.of;
            self.seen.push(Seen {
                id: of.id,
                arrival: row.arrival,
                end: Some(after(self.start, row.ended.at)),
                number: row.number as i64,
                flow: of.tag.0 as i32,
                kind: kind_of(of.op),
                address: row.address,
                bytes: of.bytes,
            });
        }
    }

    /// The stretch under way ends now: sends what was seen.
    fn close<D: Simulated>(&mut self, device: &mut D, at: SimTime, open: &[Open]) {
        let mut followers = self.following.take().expect("a stretch is under way");
        for (drive, follower) in device.drives_mut().iter_mut().zip(&mut followers) {
            follower.end(drive, at);
        }
        let from = followers[0].from;
        for (id, open) in (0..).map(RequestId).zip(open).filter(|(_, open)| open.live) {
            self.seen.push(Seen {
                id,
                arrival: after(self.start, open.at),
                end: None,
                number: NOTHING,
                flow: open.tag.0 as i32,
                kind: kind_of(open.op),
                address: open.sector * 512,
                bytes: open.bytes,
            });
        }
        self.seen.sort_by_key(|seen| (seen.arrival, seen.number, seen.id));
        let mut by_id: HashMap<RequestId, Vec<usize>> = HashMap::new();
        // The requests of an array are none of its drives'.
        if followers.len() == 1 && D::NAME == Drive::NAME {
            self.seen.iter().enumerate().for_each(|(k, seen)| by_id.entry(seen.id).or_default().push(k));
        }
        let seen = &self.seen;
        let whose = |id: RequestId, at: i64| {
            let of = by_id.get(&id)?;
            of.iter().rev().copied().find(|&k| seen[k].arrival <= at)
        };
        let (start, window) = (self.start, self.window);
        for (d, follower) in (0..).zip(&followers) {
            let mut slices = Slices::new(window, d, start, from);
            slices.add(follower, &whose);
            let (rows, columns) = slices.take();
            self.sender.send("timeline.dies", rows, columns);
            let channel_of = |die: DieId| device.drives()[d as usize].spec().geometry.channel_of(die);
            let (rows, columns) = of_bus(follower, window, d, start, at, &channel_of);
            self.sender.send("timeline.buses", rows, columns);
            let (rows, columns) = of_queues(follower, window, d, start);
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
            Column::names(
                "kind",
                seen.iter().map(|s| s.kind).collect(),
                &list(["read", "write", "trim", "flush"]),
            ),
            Column::whole("address_bytes", whole(&|s| s.address as i64)),
            Column::whole("size_bytes", whole(&|s| s.bytes as i64)),
        ];
        self.sender.send("timeline.requests", rows, columns);
        let whole = self.next.is_some_and(|[_, to]| at >= to);
        let columns = vec![
            Column::whole("window", vec![window]),
            Column::whole("from_ns", vec![after(start, from)]),
            Column::whole("to_ns", vec![after(start, at)]),
            Column::whole("whole", vec![i64::from(whole)]),
        ];
        self.sender.send("timeline.windows", 1, columns);
    }
}
