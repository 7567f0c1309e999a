//! Does what a device does depend on its configuration and its requests alone?

use crate::common::{Draw, LATE, all_at_once, device, drive, kinds, requests};
use interpulse_embed::{Completion, Device, Duration, Options, Request, SimTime};
use interpulse_engine::Tag;
use interpulse_host::{Ended, FreeRunning, Host, Observer, Stepper};
use interpulse_study::config::{PlanRequest, read_cases};
use interpulse_study::{case, initial_state::precondition::precondition};

/// The host divides time at random: submits late or early, in and out of order, advances and polls in steps of every size.
fn in_steps(device: &mut Device, requests: &[(SimTime, Request)], seed: u64) -> Vec<Completion> {
    let (mut draw, mut done, mut next) = (Draw(seed), Vec::new(), 0);
    while next < requests.len() || device.pending() > 0 {
        match draw.below(6) {
            0 | 1 if next < requests.len() => {
                let (at, request) = requests[next];
                // Not later than the instant of a request that is not submitted yet.
                assert!(device.now() <= at);
                assert_eq!(device.submit(at, &request), Ok(next as u64));
                next += 1;
            }
            2 => done.extend(device.pop()),
            3 => drop(device.poll(draw.below(9) as usize, |_, completion| done.push(*completion))),
            what => {
                let most = requests.get(next).map(|&(at, _)| at);
                let to = match what {
                    4 => SimTime(device.now().0 + draw.below(200_000)),
                    _ => device.next_event_time().unwrap_or(device.now()),
                };
                let to = most.map_or(to, |most| to.min(most));
                if draw.below(2) == 0 {
                    device.advance_to(to).expect("time is legal");
                    assert!(device.next_event_time().is_none_or(|next| next > to));
                } else {
                    let any = device.advance_to_completion(Some(to)).expect("time is legal");
                    assert_eq!(any, device.completions() > 0);
                }
            }
        }
    }
    device.advance_to(LATE).expect("time is legal");
    done.extend(std::iter::from_fn(|| device.pop()));
    done
}

#[test]
fn the_division_of_time_into_calls_makes_no_difference() {
    for (kind, config) in kinds() {
        let mut one = device(&config);
        let requests = requests(&one, kind, 7, 400);
        let at_once = all_at_once(&mut one, &requests);
        assert_eq!(at_once.len(), requests.len(), "{kind}");
        for seed in 0..3 {
            let mut other = device(&config);
            let stepped = in_steps(&mut other, &requests, seed);
            assert_eq!(stepped, at_once, "{kind}, seed {seed}");
            let (a, b) = (one.counters().to_json(), other.counters().to_json());
            assert_eq!(a, b, "{kind}");
            other.finish().unwrap_or_else(|error| panic!("{kind}: {error}"));
        }
    }
}

#[test]
fn requests_out_of_order_arrive_by_instant() {
    let config = drive("");
    let (mut one, mut other) = (device(&config), device(&config));
    let requests = requests(&one, "drive", 3, 200);
    let in_order = all_at_once(&mut one, &requests);
    let mut shuffled: Vec<usize> = (0..requests.len()).collect();
    // Requests of one instant stay in order.
    let mut draw = Draw(5);
    for _ in 0..2000 {
        let k = draw.below(requests.len() as u64 - 1) as usize;
        if requests[shuffled[k]].0 != requests[shuffled[k + 1]].0 {
            shuffled.swap(k, k + 1);
        }
    }
    let moved: Vec<_> = shuffled.iter().map(|&k| requests[k]).collect();
    assert_ne!(moved, requests);
    let by_instant = all_at_once(&mut other, &moved);
    let same =
        |a: &Completion, b: &Completion| (a.completed, a.op, a.cookie) == (b.completed, b.op, b.cookie);
    assert!(in_order.iter().zip(&by_instant).all(|(a, b)| same(a, b)));
}

/// Completions as a run sees them.
#[derive(Default)]
struct Seen(Vec<(u32, SimTime, Duration)>);

impl Observer for Seen {
    fn request_ended(&mut self, ended: &Ended) {
        self.0.push((ended.of.tag.0, ended.at, ended.latency));
    }
}

/// The host of runs, without flows, gets the same requests.
#[test]
fn a_device_serves_requests_as_in_a_run() {
    for (kind, config) in kinds().into_iter().filter(|(kind, _)| ["drive", "raid5", "zones"].contains(kind)) {
        let mut embedded = device(&config);
        let requests = requests(&embedded, kind, 11, 300);
        let done = all_at_once(&mut embedded, &requests);
        let text = PlanRequest { text: config, path: "x".into(), embedded: true, ..PlanRequest::default() };
        let of = read_cases(&text).expect("a legal configuration").remove(0);
        let state = precondition(&of.drive, &of.precondition, &mut |_, _| true).expect("not stopped").0;
        let seen = match of.array {
            None => run(case::device_of_one(&of, &[], state), &requests),
            Some(_) => run(case::device_of_several(&of, &[], state), &requests),
        };
        let embedded: Vec<_> = done.iter().map(|c| (c.tag as u32, c.completed, c.latency())).collect();
        assert_eq!(embedded, seen, "{kind}");
    }
}

fn run<D: interpulse_engine::Device>(
    device: D,
    requests: &[(SimTime, Request)],
) -> Vec<(u32, SimTime, Duration)> {
    let host = Host::new(device, &[], 1, Seen::default()).expect("no flows");
    let mut stepper = Stepper::new(host, FreeRunning);
    stepper.open().expect("it starts");
    for (tag, (at, request)) in (0..).zip(requests) {
        stepper.run_until(*at).expect("no failure");
        let &Request { op, offset, bytes, queue, .. } = request;
        let of = interpulse_engine::Request::new(op, offset / 512, (bytes / 512) as u32);
        stepper.submit(queue, Tag(tag), of);
    }
    stepper.close().expect("all requests complete");
    stepper.host.observer.0
}

#[test]
fn devices_on_several_threads_are_independent() {
    let config = drive("");
    let work = |seed: u64| {
        let mut of = device(&config);
        let requests = requests(&of, "drive", seed, 300);
        all_at_once(&mut of, &requests)
    };
    let alone: Vec<_> = (0..4).map(work).collect();
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!(alone, together);
}

#[test]
fn a_device_may_move_between_threads_while_requests_are_outstanding() {
    let config = drive("");
    let (mut one, mut other) = (device(&config), device(&config));
    let requests = requests(&one, "drive", 2, 100);
    let expected = all_at_once(&mut one, &requests);
    for (at, request) in &requests[..50] {
        other.submit(*at, request).expect("a legal request");
    }
    other.advance_to(requests[20].0).expect("time is legal");
    let done = std::thread::spawn(move || {
        for (at, request) in &requests[50..] {
            other.submit(*at, request).expect("a legal request");
        }
        other.advance_to(LATE).expect("time is legal");
        std::iter::from_fn(|| other.pop()).collect::<Vec<_>>()
    });
    assert_eq!(done.join().expect("no panic"), expected);
}

#[test]
fn causes_add_up_and_can_be_left_out() {
    let config = drive("");
    let mut with = device(&config);
    let requests = requests(&with, "drive", 1, 200);
    let done = all_at_once(&mut with, &requests);
    assert!(done.iter().all(|c| c.causes.iter().sum::<u64>() == c.latency().as_ns()));
    let mut without =
        Device::create(&Options { causes: false, ..Options::new(config) }).expect("a legal configuration");
    let bare = all_at_once(&mut without, &requests);
    assert!(
        done.iter()
            .zip(bare)
            .all(|(a, b)| Completion { causes: b.causes, ..*a } == b && b.causes.iter().all(|&ns| ns == 0))
    );
}

#[test]
fn counters_have_groups_and_names() {
    let mut of = device(&kinds()[0].1);
    let requests = requests(&of, "drive", 9, 100);
    let done = all_at_once(&mut of, &requests);
    let counters = of.counters();
    assert_eq!(counters.get("host.requests"), Some(100));
    let written: u64 = done.iter().filter(|c| c.op == interpulse_embed::Op::Write).map(|c| c.bytes).sum();
    assert_eq!(counters.get("host.written_bytes"), Some(written));
    assert!(counters.get("ftl.host_units").is_some_and(|units| units > 0));
    assert_eq!((counters.get("array.drive_reads"), counters.get("requests")), (None, None));
    let json: serde_json::Value = serde_json::from_str(&counters.to_json()).expect("JSON");
    assert_eq!(json["host"]["requests"], 100);
    assert_eq!(json["nand"].as_object().map(|of| of.len() > 10), Some(true));
}
