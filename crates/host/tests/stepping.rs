//! *Does the stepper go where it is told, by any clock, and does whoever observes see what happens?* A device that is
//! nothing but a delay.

use interpulse_engine::{
    Agenda, Ahead, AuditReport, Completion, Device, Duration, News, Op, Request, RequestId, ResourceId,
    SimTime, Tag,
};
use interpulse_host::{Clock, Ended, Failure, FreeRunning, Host, Observer, Pause, Stepper};
use interpulse_workload::{Arrivals, FlowSpec, SyntheticPacing, SyntheticSpec};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

const DELAY: Duration = Duration::from_us(100);

/// Completes every request [`DELAY`] after its submission, but none after so many. If it gathers, power is cut at
/// [`CUT`] and the host served again at [`BACK`].
struct Delay<const GATHERS: bool = false> {
    under_way: VecDeque<(SimTime, Tag, Request)>,
    ended: Option<(SimTime, Tag, Request)>,
    submitted: u64,
    completed: u64,
    most: u64,
    timers: u32,
    served: bool,
    /// What it was told to expect and has not come.
    expected: RefCell<VecDeque<Request>>,
    /// Requests that came without a word.
    surprises: u64,
}

const CUT: SimTime = SimTime(250_000);
const BACK: SimTime = SimTime(900_000);

impl<const GATHERS: bool> Delay<GATHERS> {
    fn new(timers: u32) -> Self {
        let under_way = VecDeque::new();
        Delay {
            under_way,
            ended: None,
            submitted: 0,
            completed: 0,
            most: u64::MAX,
            timers,
            served: false,
            expected: RefCell::default(),
            surprises: 0,
        }
    }

    fn arm(&self, agenda: &mut Agenda) {
        if let Some((submitted, _, _)) = self.under_way.front() {
            agenda.arm(ResourceId(0), *submitted + DELAY);
        }
    }
}

impl<const GATHERS: bool> Device for Delay<GATHERS> {
    const NAME: &'static str = "a delay";
    const GATHERS: bool = GATHERS;

    fn resources(&self) -> Range<u32> {
        0..2 + self.timers
    }
    fn host_timer(&self, k: u32) -> ResourceId {
        ResourceId(2 + k)
    }
    fn capacity_sectors(&self) -> u64 {
        1 << 20
    }
    fn start(&mut self, agenda: &mut Agenda) -> Result<(), String> {
        if GATHERS {
            agenda.arm(ResourceId(1), CUT);
        }
        Ok(())
    }
    fn expect(&self, request: &Request, ahead: Ahead) {
        let mut expected = self.expected.borrow_mut();
        match ahead {
            Ahead::Far => expected.push_back(*request),
            Ahead::Near => assert!(expected.contains(request), "told of as near, but not before"),
        }
    }
    fn submit(&mut self, agenda: &mut Agenda, _queue: u32, tag: Tag, request: Request) -> RequestId {
        self.submitted += 1;
        let expected = self.expected.get_mut();
        match expected.iter().position(|of| *of == request) {
            Some(k) => drop(expected.remove(k)),
            None => self.surprises += 1,
        }
        self.under_way.push_back((agenda.now(), tag, request));
        if self.under_way.len() == 1 && self.submitted <= self.most {
            self.arm(agenda);
        }
        RequestId(0)
    }
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32> {
        if resource.0 > 1 {
            return Some(resource.0 - 2);
        }
        if resource.0 == 1 {
            self.served = agenda.now() == BACK;
            if !self.served {
                // What is outstanding is gone, and so are the host's timers.
                self.under_way.clear();
                (0..2 + self.timers).for_each(|k| agenda.disarm(ResourceId(k)));
                agenda.arm(ResourceId(1), BACK);
            }
            return None;
        }
        self.ended = self.under_way.pop_front();
        self.completed += 1;
        if self.completed < self.most {
            self.arm(agenda);
        }
        None
    }
    fn has_news(&self) -> bool {
        self.ended.is_some() || self.served
    }
    fn news(&self) -> Option<News<Completion<'_>>> {
        if self.served {
            return Some(News::Served);
        }
        let (submitted, tag, request) = self.ended?;
        Some(News::Completed(Completion {
            id: RequestId(0),
            tag,
            op: request.op,
            bytes: request.bytes().get(),
            submitted,
            failed: false,
            busy: false,
            account: None,
        }))
    }
    fn take_news(&mut self) {
        if !std::mem::take(&mut self.served) {
            self.ended = None;
        }
    }
    fn outstanding(&self) -> usize {
        self.under_way.len()
    }
    fn completed(&self) -> u64 {
        self.completed
    }
    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime)) {
        self.under_way.iter().for_each(|(submitted, _, request)| each(request.op, *submitted));
    }
    fn begin_window(&mut self) {}
    fn close(&mut self) {}
    fn audit(&self, _now: SimTime, _stride: usize) -> Result<AuditReport, String> {
        Ok(AuditReport { requests: self.completed, mapped_units: 0, versions_checked: 0 })
    }
    fn diagnosis(&self, agenda: &Agenda) -> String {
        format!("stuck at {}", agenda.now())
    }
}

/// Everything an observer is told.
#[derive(Default)]
struct Log {
    ended: Vec<(u32, u64, Duration)>,
    events: Vec<SimTime>,
    lags: Vec<Duration>,
}

impl Observer for Log {
    fn time_passed(&mut self, now: SimTime) {
        self.events.push(now);
    }
    fn request_ended(&mut self, ended: &Ended) {
        self.ended.push((ended.of.tag.0, ended.at.as_ns() / 1000, ended.latency));
    }
    fn fell_behind(&mut self, _now: SimTime, lag: Duration) {
        self.lags.push(lag);
    }
}

fn closed(depth: u32) -> FlowSpec {
    let pacing = SyntheticPacing::Closed { depth };
    FlowSpec::synthetic("closed", SyntheticSpec { pacing, ..SyntheticSpec::default() })
}

fn every(us: u64) -> FlowSpec {
    let pacing = SyntheticPacing::Open { rate_per_s: 1e6 / us as f64, arrivals: Arrivals::Fixed };
    FlowSpec::synthetic("open", SyntheticSpec { pacing, ..SyntheticSpec::default() })
}

fn opened<O: Observer, C: Clock>(
    device: Delay,
    flows: &[FlowSpec],
    observer: O,
    clock: C,
) -> Stepper<Delay, O, C> {
    let mut stepper = Stepper::new(Host::new(device, flows, 1, observer).unwrap(), clock);
    stepper.open().unwrap();
    stepper
}

fn us(us: u64) -> SimTime {
    SimTime(us * 1000)
}

#[test]
fn a_run_ends_at_its_limit_its_target_or_when_all_is_done_and_closes() {
    let limited = FlowSpec { limit: Some(100), ..closed(4) };
    let mut s = opened(Delay::new(1), &[limited], (), FreeRunning);
    assert_eq!(s.run(us(250), u64::MAX, &mut |_| true), Ok(Pause::Limit));
    assert_eq!((s.host.device.completed, s.agenda.now(), s.next_at()), (8, us(200), Some(us(300))));
    assert_eq!(s.run(us(9000), 10, &mut |_| true), Ok(Pause::Target));
    assert_eq!((s.host.device.completed, s.host.device.outstanding()), (10, 4));
    s.run_until(us(350)).unwrap();
    assert_eq!((s.host.device.completed, s.agenda.now()), (12, us(350)));
    assert_eq!(s.host.end_window(us(350)).oldest_read, Some(Duration::from_us(50)));
    assert_eq!(s.run(us(9000), u64::MAX, &mut |_| true), Ok(Pause::Done));
    assert_eq!((s.host.device.completed, s.agenda.now()), (100, us(2500)));

    let mut s = opened(Delay::new(1), &[closed(4)], (), FreeRunning);
    s.run_until(us(150)).unwrap();
    s.close().unwrap();
    assert_eq!((s.host.device.completed, s.host.device.outstanding()), (8, 0));
    assert_eq!(s.host.window.counters.requests, 8);
}

#[test]
fn who_looks_every_64_ki_events_may_stop_a_run() {
    let mut s = opened(Delay::new(1), &[closed(1)], (), FreeRunning);
    let mut seen = 0;
    let pause = s.run(SimTime(u64::MAX >> 8), u64::MAX, &mut |s| {
        seen = s.host.device.completed;
        false
    });
    // The first event is the start of the flow.
    assert_eq!((pause, seen), (Ok(Pause::Stopped), (1 << 16) - 1));
}

#[test]
fn a_device_that_forgets_a_request_is_found_out() {
    let device = Delay { most: 3, ..Delay::new(1) };
    let mut s = opened(device, &[closed(1)], (), FreeRunning);
    let stuck = Failure::Stuck(format!("stuck at {}", us(300)));
    assert_eq!(s.run(us(9000), u64::MAX, &mut |_| true), Err(stuck));
}

#[test]
fn after_an_outage_every_closed_flow_has_its_depth_whenever_it_began() {
    // They begin before the cut, while there is no power, and after it.
    let flows = [0, 500, 950].map(|start| FlowSpec { start: us(start), ..closed(4) });
    let mut s = Stepper::new(Host::new(Delay::<true>::new(3), &flows, 1, ()).unwrap(), FreeRunning);
    s.open().unwrap();
    for (at, outstanding) in [(200, 4), (300, 0), (800, 0), (900, 8), (949, 8), (950, 12), (1500, 12)] {
        s.run_until(us(at)).unwrap();
        assert_eq!(s.host.device.outstanding(), outstanding, "at {at} us");
    }
}

#[test]
fn the_device_is_told_of_requests_before_they_come() {
    let mut s = opened(Delay::new(2), &[closed(4), every(70)], (), FreeRunning);
    s.run_until(us(5000)).unwrap();
    s.submit(0, Tag(7), Request { op: Op::Write, sector: 0, sectors: 8 });
    assert!(s.host.device.submitted > 60);
    assert_eq!(s.host.device.surprises, 0);
    assert!((1..100).contains(&s.host.device.expected.borrow().len()), "some are told of ahead");
}

#[test]
fn observers_are_told_of_every_request_and_event_and_a_pair_is_two() {
    let (mut first, mut second) = (Log::default(), Log::default());
    let mut s = opened(Delay::new(2), &[closed(1), every(250)], (&mut first, &mut second), FreeRunning);
    s.run_until(us(100)).unwrap();
    // A request of somebody else's, between those of the flows.
    s.submit(0, Tag(7), Request { op: Op::Write, sector: 0, sectors: 8 });
    s.run_until(us(220)).unwrap();
    let window = &s.host.window;
    assert_eq!((window.counters.requests, window.counters.written_bytes), (of_flows_and_one(window), 4096));
    drop(s);
    assert!(first.ended.contains(&(7, 200, DELAY)), "{:?}", first.ended);
    assert_eq!(first.ended, second.ended);
    assert!(first.ended.iter().all(|&(_, _, latency)| latency == DELAY));
    assert!(first.events.is_sorted() && first.events.len() >= first.ended.len());
    assert!(first.lags.is_empty(), "nobody can lag behind no clock");
}

/// Requests of the flows, and the one that was of none.
fn of_flows_and_one(window: &interpulse_host::Window) -> u64 {
    window.flows.iter().map(|flow| flow.count()).sum::<u64>() + 1
}

/// Simulated time goes by as time does.
struct Real {
    start: Instant,
}

impl Clock for Real {
    fn synchronize(&mut self, at: SimTime) -> Duration {
        loop {
            let now = self.start.elapsed().as_nanos() as u64;
            let Some(early) = at.as_ns().checked_sub(now).filter(|&early| early > 0) else {
                return Duration::from_ns(now - at.as_ns());
            };
            std::thread::sleep(std::time::Duration::from_nanos(early));
        }
    }
}

#[test]
fn a_run_that_follows_a_real_clock_gives_the_same_and_takes_the_time() {
    let flows = [closed(2), every(300)];
    let end = us(5000);
    let mut free = Log::default();
    opened(Delay::new(2), &flows, &mut free, FreeRunning).run_until(end).unwrap();
    let (mut real, start) = (Log::default(), Instant::now());
    let mut s = opened(Delay::new(2), &flows, &mut real, Real { start });
    s.run_until(end).unwrap();
    let last = s.next_at().expect("the flows go on");
    assert!(last > end);
    drop(s);
    assert!(start.elapsed().as_nanos() as u64 > end.as_ns() - 2 * DELAY.as_ns(), "{:?}", start.elapsed());
    assert_eq!((&real.ended, &real.events), (&free.ended, &free.events));
    assert!(!real.lags.is_empty(), "no sleep ends on the nanosecond");
}
