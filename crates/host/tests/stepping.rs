//! Stepper, clocks and observers, on a device with a constant delay.

use interpulse_engine::{
    AuditReport, Completion, DataStore, Device, DeviceEvent, Duration, EventQueue, MemoryStore, Op,
    PrefetchDistance, Request, RequestId, ResourceId, SimTime, Status, Tag,
};
use interpulse_host::{
    Clock, Ended, Failure, FreeRunning, Host, MOST_TIMERS_WITHOUT_COMPLETION, Observer, Pause, RealTimeClock,
    Stepper,
};
use interpulse_workload::{Arrivals, FlowSpec, SyntheticPacing, SyntheticSpec};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

const DELAY: Duration = Duration::from_us(100);

/// Completes every request [`DELAY`] after its submission, and none after `most` submissions. With `BATCHES` power is cut at
/// [`CUT`] and restored at [`BACK`].
pub(crate) struct Delay<const BATCHES: bool = false> {
    under_way: VecDeque<(SimTime, Tag, Request, RequestId)>,
    ended: Option<(SimTime, Tag, Request, RequestId)>,
    submitted: u64,
    completed: u64,
    most: u64,
    /// Internal work goes on without end after `most` submissions.
    busy: bool,
    timers: u32,
    restored: bool,
    /// Requests that were hinted and not yet submitted.
    hinted: RefCell<VecDeque<Request>>,
    /// Requests submitted without a hint.
    unhinted: u64,
    store: Option<MemoryStore>,
}

const CUT: SimTime = SimTime(250_000);
const BACK: SimTime = SimTime(900_000);

impl<const BATCHES: bool> Delay<BATCHES> {
    pub(crate) fn new(timers: u32) -> Self {
        let under_way = VecDeque::new();
        Delay {
            under_way,
            ended: None,
            submitted: 0,
            completed: 0,
            most: u64::MAX,
            busy: false,
            timers,
            restored: false,
            hinted: RefCell::default(),
            unhinted: 0,
            store: None,
        }
    }

    fn arm(&self, events: &mut EventQueue) {
        if let Some((submitted, ..)) = self.under_way.front() {
            events.arm(ResourceId(0), *submitted + DELAY);
        }
    }
}

impl<const BATCHES: bool> Device for Delay<BATCHES> {
    const NAME: &'static str = "a delay";
    const BATCHES: bool = BATCHES;

    fn resources(&self) -> Range<u32> {
        0..2 + self.timers
    }
    fn host_timer(&self, k: u32) -> ResourceId {
        ResourceId(2 + k)
    }
    fn capacity_sectors(&self) -> u64 {
        1 << 20
    }
    fn data_store(&mut self) -> Option<&mut dyn DataStore> {
        self.store.as_mut().map(|store| store as _)
    }
    fn start(&mut self, events: &mut EventQueue) -> Result<(), String> {
        if BATCHES {
            events.arm(ResourceId(1), CUT);
        }
        Ok(())
    }
    fn hint(&self, request: &Request, ahead: PrefetchDistance) {
        let mut hinted = self.hinted.borrow_mut();
        match ahead {
            PrefetchDistance::Far => hinted.push_back(*request),
            PrefetchDistance::Near => assert!(hinted.contains(request), "hinted as near, but not before"),
        }
    }
    fn submit(
        &mut self,
        events: &mut EventQueue,
        _queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        self.submitted += 1;
        let hinted = self.hinted.get_mut();
        match hinted.iter().position(|of| *of == request) {
            Some(k) => drop(hinted.remove(k)),
            None => self.unhinted += 1,
        }
        let id = RequestId(self.submitted as u32);
        self.under_way.push_back((events.now(), tag, request, id));
        if self.under_way.len() == 1 && self.submitted <= self.most {
            self.arm(events);
        }
        Some(id)
    }
    fn handle(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32> {
        if resource.0 > 1 {
            return Some(resource.0 - 2);
        }
        if resource.0 == 1 {
            self.restored = events.now() == BACK;
            if !self.restored {
                // The cut drops outstanding requests and the host's timers.
                self.under_way.clear();
                (0..2 + self.timers).for_each(|k| events.disarm(ResourceId(k)));
                events.arm(ResourceId(1), BACK);
            }
            return None;
        }
        if self.completed < self.most {
            self.ended = self.under_way.pop_front();
            self.completed += 1;
        }
        if self.completed < self.most {
            self.arm(events);
        } else if self.busy {
            events.arm(ResourceId(0), events.now() + DELAY);
        }
        None
    }
    fn has_event(&self) -> bool {
        self.ended.is_some() || self.restored
    }
    fn event(&self) -> Option<DeviceEvent<Completion<'_>>> {
        if self.restored {
            return Some(DeviceEvent::PowerRestored);
        }
        let (submitted, tag, request, id) = self.ended?;
        Some(DeviceEvent::Completed(Completion {
            id,
            tag,
            op: request.op,
            bytes: request.bytes().get(),
            submitted,
            status: Status::Success,
            placed: None,
            busy: false,
            account: None,
        }))
    }
    fn pop_event(&mut self) {
        if !std::mem::take(&mut self.restored) {
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
        self.under_way.iter().for_each(|(submitted, _, request, _)| each(request.op, *submitted));
    }
    fn begin_window(&mut self) {}
    fn close(&mut self) {}
    fn audit(&self, _now: SimTime, _stride: usize) -> Result<AuditReport, String> {
        Ok(AuditReport { requests: self.completed, mapped_units: 0, versions_checked: 0 })
    }
    fn diagnosis(&self, events: &EventQueue) -> String {
        format!("stuck at {}", events.now())
    }
}

/// Records all notifications.
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
    assert_eq!((s.host.device.completed, s.events.now(), s.next_at()), (8, us(200), Some(us(300))));
    assert_eq!(s.run(us(9000), 10, &mut |_| true), Ok(Pause::Target));
    assert_eq!((s.host.device.completed, s.host.device.outstanding()), (10, 4));
    s.run_until(us(350)).unwrap();
    assert_eq!((s.host.device.completed, s.events.now()), (12, us(350)));
    assert_eq!(s.host.end_window(us(350)).oldest_read, Some(Duration::from_us(50)));
    assert_eq!(s.run(us(9000), u64::MAX, &mut |_| true), Ok(Pause::Done));
    assert_eq!((s.host.device.completed, s.events.now()), (100, us(2500)));

    let mut s = opened(Delay::new(1), &[closed(4)], (), FreeRunning);
    s.run_until(us(150)).unwrap();
    s.close().unwrap();
    assert_eq!((s.host.device.completed, s.host.device.outstanding()), (8, 0));
    assert_eq!(s.host.window.counters.requests, 8);
}

#[test]
fn a_run_can_be_stopped_every_64_ki_timers() {
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
fn a_device_that_loses_a_request_is_reported_as_stuck() {
    let device = Delay { most: 3, ..Delay::new(1) };
    let mut s = opened(device, &[closed(1)], (), FreeRunning);
    let stuck = Failure::Stuck(format!("stuck at {}", us(300)));
    assert_eq!(s.run(us(9000), u64::MAX, &mut |_| true), Err(stuck));
}

#[test]
fn a_device_that_works_without_end_and_completes_nothing_ends_the_run() {
    let device = Delay { most: 3, busy: true, ..Delay::new(1) };
    let mut s = opened(device, &[closed(1)], (), FreeRunning);
    // Runs of any length: what counts is when the last request completed.
    let failed = loop {
        match s.run(s.events.now() + DELAY * 1_000_000, u64::MAX, &mut |_| true) {
            Ok(pause) => assert_eq!(pause, Pause::Limit),
            Err(failure) => break failure,
        }
    };
    let Failure::NoCompletion { outstanding: 1, since } = failed else { panic!("{failed:?}") };
    let timers = since.as_ns() / DELAY.as_ns();
    assert!(timers.abs_diff(MOST_TIMERS_WITHOUT_COMPLETION) < 2 << 16, "{timers}");
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
fn the_device_receives_hints_before_submissions() {
    let mut s = opened(Delay::new(2), &[closed(4), every(70)], (), FreeRunning);
    s.run_until(us(5000)).unwrap();
    s.submit(0, Tag(7), Request::new(Op::Write, 0, 8));
    assert!(s.host.device.submitted > 60);
    assert_eq!(s.host.device.unhinted, 0);
    assert!(
        (1..100).contains(&s.host.device.hinted.borrow().len()),
        "some hints are ahead of their requests"
    );
}

#[test]
fn both_observers_of_a_pair_receive_every_notification() {
    let (mut first, mut second) = (Log::default(), Log::default());
    let mut s = opened(Delay::new(2), &[closed(1), every(250)], (&mut first, &mut second), FreeRunning);
    s.run_until(us(100)).unwrap();
    // A request from outside the flows.
    s.submit(0, Tag(7), Request::new(Op::Write, 0, 8));
    s.run_until(us(220)).unwrap();
    let window = &s.host.window;
    assert_eq!(
        (window.counters.requests, window.counters.written_bytes),
        (flow_requests_and_one(window), 4096)
    );
    drop(s);
    assert!(first.ended.contains(&(7, 200, DELAY)), "{:?}", first.ended);
    assert_eq!(first.ended, second.ended);
    assert!(first.ended.iter().all(|&(_, _, latency)| latency == DELAY));
    assert!(first.events.is_sorted() && first.events.len() >= first.ended.len());
    assert!(first.lags.is_empty(), "a free-running clock has no lag");
}

/// Requests of the flows, and one from outside.
fn flow_requests_and_one(window: &interpulse_host::Window) -> u64 {
    window.flows.iter().map(|flow| flow.count()).sum::<u64>() + 1
}

#[test]
fn a_run_in_real_time_gives_the_same_results_and_takes_the_time() {
    let flows = [closed(2), every(300)];
    let end = us(5000);
    let mut free = Log::default();
    opened(Delay::new(2), &flows, &mut free, FreeRunning).run_until(end).unwrap();
    let (mut real, start) = (Log::default(), Instant::now());
    let mut s = opened(Delay::new(2), &flows, &mut real, RealTimeClock::start());
    assert_eq!(s.run_until(end), Ok(Pause::Limit));
    assert!(s.next_at().expect("the flows continue") > end);
    drop(s);
    assert!(start.elapsed().as_nanos() as u64 >= end.as_ns(), "{:?}", start.elapsed());
    assert_eq!((&real.ended, &real.events), (&free.ended, &free.events));
    assert!(!real.lags.is_empty(), "no wait ends on the nanosecond");
}

#[test]
fn an_arrival_wakes_the_clock_before_the_next_timer() {
    let late = FlowSpec { start: us(60_000_000), ..closed(1) };
    let (mut log, clock) = (Log::default(), RealTimeClock::start());
    let waker = clock.waker();
    let mut s = opened(Delay::new(1), &[late], &mut log, clock);
    let arrival = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        waker.wake();
    });
    assert_eq!(s.run(s.events.horizon(), u64::MAX, &mut |_| true), Ok(Pause::Woken));
    arrival.join().unwrap();
    let woken = s.events.now();
    assert!(us(20_000) <= woken && woken < us(60_000_000), "woken at {woken}");
    s.submit(0, Tag(7), Request::new(Op::Write, 0, 8));
    // A wake-up that no wait was there for interrupts the next wait; the timer of the request is not skipped.
    s.clock.waker().wake();
    assert_eq!(s.run_until(us(50_000_000)), Ok(Pause::Woken));
    assert!(s.events.now() <= woken + DELAY);
    assert_eq!(s.run(s.events.horizon(), 1, &mut |_| true), Ok(Pause::Target));
    assert_eq!((s.events.now(), s.next_at()), (woken + DELAY, Some(us(60_000_000))));
    drop(s);
    assert_eq!(log.ended, [(7, (woken + DELAY).as_ns() / 1000, DELAY)]);
}

#[test]
fn a_device_may_have_a_data_store() {
    let mut s = opened(Delay::new(1), &[], (), FreeRunning);
    assert!(s.host.device.data_store().is_none());
    s.host.device.store = Some(MemoryStore::new(1 << 29));
    s.submit(0, Tag(0), Request::new(Op::Write, 8, 1));
    s.host.device.data_store().unwrap().write(8 * 512, &[7; 512]).unwrap();
    s.run_until(us(100)).unwrap();
    s.submit(0, Tag(0), Request::new(Op::Read, 8, 1));
    s.run_until(us(200)).unwrap();
    let mut data = [0; 512];
    s.host.device.data_store().unwrap().read(8 * 512, &mut data).unwrap();
    assert_eq!((s.host.device.completed, data), (2, [7; 512]));
}
