//! Do requests that wait in the host for a place in a full queue complete as in a queue that holds them all?

use crate::drive_common::{closed, little, mix, preconditioned};
use interpulse_drive::drive::Drive;

use interpulse_drive::spec::{DriveSpec, PowerLossSpec};
use interpulse_engine::account::Account;
use interpulse_engine::{Device, Duration, Latencies, Request, RequestId, ResourceId, SimTime, Tag};
use interpulse_flash::hold_up::Placement;
use interpulse_host::{Ended, FreeRunning, Host, Observer, Pause, Stepper, Submitted};
use interpulse_workload::{Arrivals, FlowSpec, SyntheticPacing, SyntheticSpec, TracePacing, TraceSpec};
use std::collections::{HashMap, VecDeque};

/// Notifications, with the numbers that requests have.
#[derive(Default)]
struct Log {
    waiting: VecDeque<(SimTime, Tag, Request)>,
    open: HashMap<RequestId, (SimTime, Tag, Request)>,
    /// End of each request, what it was, and its account.
    ended: Vec<(SimTime, SimTime, Tag, Request, Account)>,
    /// Most requests with a number at a time, and without one.
    most: [usize; 2],
}

impl Observer for Log {
    fn request_submitted(&mut self, submitted: &Submitted) {
        let Submitted { at, id, tag, request } = *submitted;
        match id {
            Some(id) => drop(self.open.insert(id, (at, tag, request))),
            None => self.waiting.push_back((at, tag, request)),
        }
        let now = [self.open.len(), self.waiting.len()];
        self.most = std::array::from_fn(|k| self.most[k].max(now[k]));
    }
    fn request_entered(&mut self, now: SimTime, submitted: &Submitted) {
        let Submitted { at, id, tag, request } = *submitted;
        // A power loss drops those before it.
        let found = self.waiting.iter().position(|&of| of == (at, tag, request)).expect("it was submitted");
        self.waiting.drain(..=found);
        assert!(now >= at);
        self.open.insert(id.expect("it has entered"), (at, tag, request));
    }
    fn request_ended(&mut self, ended: &Ended) {
        let of = &ended.of;
        let (at, tag, request) = self.open.remove(&of.id).expect("it has a number");
        assert_eq!((at, tag, request.op, request.bytes().get()), (of.submitted, of.tag, of.op, of.bytes));
        self.ended.push((ended.at, at, tag, request, *of.account.expect("of a drive")));
    }
}

/// All requests of `flows` on a queue of this depth, the latencies of the first flow, and the requests lost by a cut.
fn run(spec: &DriveSpec, queue_depth: u32, flows: &[FlowSpec]) -> (Log, Latencies, Vec<[u64; 3]>) {
    let mut spec = spec.clone();
    (spec.host.queue_depth, spec.host.frame_buffer) = (queue_depth, 8);
    spec.check().unwrap();
    let state = preconditioned(&spec, 1.0, 1.0, 3);
    let drive = Drive::new(spec, state, 1, ResourceId(0), flows.len() as u32);
    let mut log = Log::default();
    let mut s = Stepper::new(Host::new(drive, flows, 1, &mut log).unwrap(), FreeRunning);
    s.open().unwrap();
    assert_eq!(s.run(s.events.horizon(), u64::MAX, &mut |_| true), Ok(Pause::Done));
    s.close().unwrap();
    s.host.device.audit(s.events.now(), 1).unwrap();
    let lost = s.host.device.recoveries().iter().map(|cut| cut.requests).collect();
    let latencies = s.host.window.flows[0].clone();
    drop(s);
    (log, latencies, lost)
}

/// Runs `flows` on a queue of 8 and on one that holds everything; returns the former.
fn as_in_a_queue(spec: &DriveSpec, flows: &[FlowSpec]) -> (Log, Latencies, Vec<[u64; 3]>) {
    let (held, of_held, lost_held) = run(spec, 65_535, flows);
    let (waited, of_waited, lost_waited) = run(spec, 8, flows);
    assert_eq!((held.most[1], waited.most[0] <= 9), (0, true), "{:?}", waited.most);
    assert_eq!(waited.ended.len(), held.ended.len());
    for (waited, held) in waited.ended.iter().zip(&held.ended) {
        assert_eq!(waited, held);
    }
    let percentiles = |of: &Latencies| [0.5, 0.99, 0.999, 1.0].map(|p| of.all().percentile(p));
    assert_eq!((percentiles(&of_waited), &lost_waited), (percentiles(&of_held), &lost_held));
    (waited, of_waited, lost_waited)
}

/// `requests` at 1e9 a second.
fn flood(requests: u64, synthetic: SyntheticSpec) -> FlowSpec {
    let pacing = SyntheticPacing::Open { rate_per_s: 1e9, arrivals: Arrivals::Fixed };
    let flow = FlowSpec::synthetic("flood", SyntheticSpec { pacing, ..synthetic });
    FlowSpec { limit: Some(requests), ..flow }
}

fn mixed() -> SyntheticSpec {
    SyntheticSpec {
        read_share: 0.6,
        write_share: 0.3,
        trim_share: 0.1,
        flush_every: Some(50),
        ..SyntheticSpec::default()
    }
}

#[test]
fn requests_of_several_flows_that_wait_end_as_in_a_queue_that_holds_them() {
    let load = FlowSpec { limit: Some(500), ..closed("load", 4, mix(0.5)) };
    let late = FlowSpec { start: SimTime(2_000_000), ..flood(3000, mix(1.0)) };
    let late = FlowSpec { name: "late".into(), ..late };
    let (log, latencies, _) = as_in_a_queue(&little(), &[flood(10_000, mixed()), load, late]);
    assert!(log.most[1] > 9_000, "{:?}", log.most);
    // Percentiles by brute force.
    let of_first = log.ended.iter().filter(|(_, _, tag, ..)| *tag == Tag(0));
    let mut exact: Vec<u64> = of_first.map(|(end, at, ..)| end.since(*at).as_ns()).collect();
    exact.sort_unstable();
    for p in [0.5, 0.9, 0.99, 0.999] {
        let expected = exact[(p * exact.len() as f64).ceil() as usize - 1] as f64;
        let found = latencies.all().percentile(p).unwrap().as_ns() as f64;
        // Buckets of the histogram are within 1/128.
        assert!((found / expected - 1.0).abs() < 0.01, "p{p}: {found}, {expected} expected");
    }
}

#[test]
fn a_flush_follows_its_write_that_has_waited() {
    let row = |k: u64| {
        let op = ["FWFS", "R", "FWS", "W"][k as usize % 4];
        format!("8,0 1 {k} 0.000000 9 Q {op} {} + 8 [x]\n", 8 * (k * 7919 % 500))
    };
    let text: String = (0..4000).map(row).collect();
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("waiting.blkparse");
    std::fs::write(&path, text).unwrap();
    let pacing = TracePacing::Recorded { speed: 1.0 };
    let trace = FlowSpec::trace("trace", TraceSpec { pacing, ..TraceSpec::new(path) });
    let (log, ..) = as_in_a_queue(&little(), &[trace]);
    // Two of four rows have a flush of their own.
    assert_eq!(log.ended.len(), 6000);
}

#[test]
fn a_power_loss_drops_the_requests_that_wait() {
    let mut spec = little();
    spec.power_loss = Some(PowerLossSpec {
        at: Some(Duration::from_ms(20)),
        off_for: Duration::from_ms(1),
        checkpoint_every: Duration::from_ms(5),
        save_to: Placement::FirstFree,
        capacitor: None,
    });
    let load = FlowSpec { limit: Some(4000), ..closed("load", 4, mix(0.5)) };
    let (log, _, lost) = as_in_a_queue(&spec, &[flood(10_000, mixed()), load]);
    let all: u64 = lost[0].iter().sum();
    assert_eq!(log.ended.len() as u64 + all, 14_000);
    assert!(all > 5_000 && lost[0].iter().all(|&of| of > 100), "{lost:?}");
}

#[test]
fn a_backlog_takes_no_slots_of_requests() {
    let spec = little();
    let flow = flood(200_000, mixed());
    let state = preconditioned(&spec, 1.0, 1.0, 3);
    let depth = spec.host.queue_depth as usize;
    let drive = Drive::new(spec, state, 1, ResourceId(0), 1);
    let mut s = Stepper::new(Host::new(drive, &[flow], 1, ()).unwrap(), FreeRunning);
    s.open().unwrap();
    s.run_until(SimTime(1_000_000)).unwrap();
    let device = &s.host.device;
    assert!(device.outstanding() > 198_000 && device.requests().live() <= depth, "{}", device.outstanding());
    let (mut waiting, mut all) = (0, 0);
    device.for_waiting(&mut |of| {
        waiting += 1;
        assert!(of.submitted <= SimTime(200_000));
    });
    device.for_outstanding(&mut |_, _| all += 1);
    assert_eq!((waiting + device.requests().live(), all), (device.outstanding(), device.outstanding()));
    // All are outstanding at the end of the window,.
    assert!(s.host.end_window(SimTime(1_000_000)).oldest_read.is_some());
}
