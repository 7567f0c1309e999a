//! Does an Abort command end what the drive has not begun, at the instant that it should, and nothing else?

use crate::drive_common::{Bench, closed, filled, little, mix};
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Device, Duration, Op, Request, SimTime, Status, Tag};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::{BlockSize, FlowSpec, SyntheticSpec};

const US: u64 = 1000;

/// Drive whose controller holds `frames` commands, and whose host aborts after `timeout` us, `limit` at a time.
fn aborting(frames: u32, timeout: u64, limit: u32) -> DriveSpec {
    let mut spec = little();
    spec.host.frame_buffer = frames;
    spec.host.command_timeout = Some(Duration::from_us(timeout));
    spec.host.abort_limit = Some(limit);
    spec
}

fn read(unit: u64) -> Request {
    Request::new(Op::Read, unit * 8, 8)
}

fn aborted(b: &Bench) -> u64 {
    let (refused, of) = (b.host.window.refused, Status::CommandAbortRequested as usize);
    assert_eq!(refused.count(), refused.writes[of] + refused.others[of], "nothing else is refused");
    assert_eq!(b.host.window.aborted.count(), refused.count());
    refused.count()
}

/// The controller holds one command, and each takes more than 50 us: at 30 us the first one has begun, and the others are in
/// the queue. Their Abort commands take 19 ns on the link one after the other, 5 us of firmware and 5 ns for the completion.
#[test]
fn commands_in_the_queue_end_after_the_timeout() {
    let spec = aborting(1, 30, 8);
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
    (0..4).for_each(|k| b.host.submit(&mut b.events, 0, Tag(9), read(10 * k)));
    let mut ends = Vec::new();
    while b.host.device.outstanding() > 0 {
        let before = b.host.device.completed();
        assert!(b.step(b.events.horizon()));
        if b.host.device.completed() > before {
            ends.push(b.events.now().as_ns());
        }
    }
    let end = |k: u64| 30 * US + k * 19 + 5 * US + 5;
    // The Abort command of the first one, which has no effect, is the first on the link.
    assert_eq!(ends[..3], [end(2), end(3), end(4)]);
    assert!(ends[3] > 50 * US, "the first command continues: {ends:?}");
    let counters = b.host.device.counters;
    assert_eq!([counters.aborts, counters.commands_aborted, counters.aborts_postponed], [4, 3, 0]);
    assert_eq!((aborted(&b), counters.command_timeouts_read), (3, 4));
    let causes = b.host.window.read_attribution.total();
    assert_eq!(causes.total_ns(), ends.iter().map(|&ns| u128::from(ns)).sum::<u128>());
    assert_eq!(b.finish().requests, 4);
}

#[test]
fn the_limit_postpones_abort_commands_by_a_timeout() {
    let spec = aborting(1, 30, 1);
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
    (0..4).for_each(|k| b.host.submit(&mut b.events, 0, Tag(9), read(10 * k)));
    b.run_to(SimTime(31 * US));
    let counters = b.host.device.counters;
    assert_eq!([counters.aborts, counters.aborts_postponed], [1, 3]);
    b.run_to(SimTime(61 * US));
    assert_eq!(b.host.device.counters.aborts, 2);
    b.finish();
}

/// Without a free slot of the write cache a write has not begun.
#[test]
fn writes_that_wait_for_the_cache_are_aborted() {
    let mut spec = aborting(1024, 300, 256);
    let layout = spec.layout().unwrap();
    spec.cache.size = Bytes(u64::from(2 * layout.units_per_program * layout.lanes) * UNIT_BYTES);
    let large = SyntheticSpec { block_size: BlockSize::Fixed(Bytes::kib(128)), ..mix(0.0) };
    let flow = FlowSpec { stop: Some(SimTime(200_000 * US)), ..closed("f", 32, large) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[flow], 1);
    b.run_out();
    let counters = b.host.device.counters;
    assert!(aborted(&b) > 100 && counters.commands_aborted == aborted(&b), "{counters:?}");
    assert!(counters.aborts >= counters.commands_aborted);
    let shortest = b.host.window.aborted.write.min().unwrap();
    assert!(shortest.as_ns() >= 305 * US, "{shortest}");
    b.finish();
}

/// A queue of two holds back two more in the host, which enter it when aborted ones leave.
#[test]
fn aborted_commands_leave_room_in_their_queue() {
    let mut spec = aborting(1, 30, 8);
    spec.host.queue_depth = 2;
    spec.host.queue_weights = vec![1, 1];
    let flow = |name, queue| FlowSpec { queue, limit: Some(500), ..closed(name, 4, mix(0.5)) };
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[flow("a", 0), flow("b", 1)], 1);
    b.run_out();
    assert!(aborted(&b) > 100, "{}", aborted(&b));
    assert_eq!(b.finish().requests, 1000);
}

#[test]
fn a_timeout_that_nothing_reaches_changes_nothing() {
    let run = |spec: &DriveSpec| {
        let flow = FlowSpec { limit: Some(2000), ..closed("f", 8, mix(0.7)) };
        let mut b = Bench::new(spec, filled(spec, 1.0), &[flow], 1);
        b.run_out();
        let sums = (b.host.window.read_attribution.total(), b.host.window.write_attribution.total());
        assert_eq!(aborted(&b), 0);
        b.finish();
        sums
    };
    assert_eq!(run(&aborting(1024, 1_000_000, 4)), run(&little()));
}

/// The timer of timeouts has an event when the oldest command may have timed out, and none while nothing can: a drive that is
/// stuck or idle has no event to come.
#[test]
fn only_commands_that_can_time_out_cause_events() {
    let events_of = |spec: &DriveSpec, requests: u64| {
        let mut b = Bench::new(spec, filled(spec, 1.0), &[], 1);
        (0..requests).for_each(|k| b.host.submit(&mut b.events, 0, Tag(9), read(10 * k)));
        let mut events = 0;
        while b.step(b.events.horizon()) {
            events += 1;
        }
        assert_eq!(b.host.device.outstanding(), 0);
        b.finish();
        events
    };
    let none = events_of(&little(), 1);
    assert!(none > 3, "{none}");
    // The timeout passes after the read has ended; and before, with an Abort command that has no effect.
    assert_eq!(events_of(&aborting(1024, 1_000_000, 4), 1), none + 1);
    assert_eq!(events_of(&aborting(1024, 20, 4), 1), none + 2);
    assert_eq!(events_of(&aborting(1024, 20, 4), 0), 0);
}

/// A queue of two commands holds the commands of a split request back; they enter it one by one, and are then aborted.
#[test]
fn commands_of_a_split_request_are_aborted_one_by_one() {
    let mut spec = aborting(1, 30, 8);
    (spec.host.queue_depth, spec.host.max_transfer) = (2, Some(Bytes::kib(4)));
    let mut b = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
    b.host.submit(&mut b.events, 0, Tag(9), Request::new(Op::Read, 0, 5 * 8));
    b.host.submit(&mut b.events, 0, Tag(9), Request::new(Op::Read, 800, 2 * 8));
    assert_eq!(b.host.device.outstanding(), 2);
    while b.step(b.events.horizon()) {}
    let counters = b.host.device.counters;
    // The first command ends after some aborts; the controller then fetches and begins the one in the queue.
    assert_eq!([counters.split_requests, counters.split_commands], [2, 7]);
    assert_eq!([counters.aborts, counters.commands_aborted], [7, 5]);
    assert_eq!((aborted(&b), counters.command_timeouts_read), (2, 7));
    assert_eq!((b.host.window.counters.read_bytes, b.finish().requests), (0, 2));
}
