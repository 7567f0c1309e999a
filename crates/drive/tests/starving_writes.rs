//! Is a write that starves seen? The host's command timeout, the oldest outstanding requests at the end of a
//! window, and what the flash array is told about waiting writes.

use crate::drive_common::{Bench, closed, filled, little, mix};
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Device, Duration, Op, RequestId, SimTime};
use interpulse_workload::{BlockSize, FlowSpec, SyntheticSpec};

/// A cache of 24 units, which a large write alone overfills many times.
fn cramped() -> DriveSpec {
    let mut spec = little();
    spec.cache.size = Bytes::kib(96);
    spec
}

fn large_writes(depth: u32) -> FlowSpec {
    let (block_size, alignment) = (BlockSize::Fixed(Bytes::mib(1)), Bytes::kib(4));
    closed("writer", depth, SyntheticSpec { block_size, alignment, ..mix(0.0) })
}

fn readers() -> FlowSpec {
    closed("reader", 2, mix(1.0))
}

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// A write that does not complete within the window has no latency there, yet the host has given it up.
#[test]
fn a_write_that_starves_through_the_whole_window_is_counted() {
    let mut spec = cramped();
    spec.host.command_timeout = Some(us(300));
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[readers(), large_writes(1)], 1);
    let end = SimTime(400_000);
    bench.run_to(end);
    let window = bench.host.end_window(end);
    assert_eq!(window.flows[1].write.count(), 0, "no write completes in this window");
    assert!(window.flows[0].read.count() > 0);
    let of_window = |bench: &Bench, end| {
        let mut counters = bench.host.device.counters;
        counters.add(&bench.host.device.overdue(end));
        counters
    };
    let counters = of_window(&bench, end);
    assert_eq!(counters.command_timeouts_write, 1);
    // Both flows start at time zero.
    assert_eq!(window.oldest_write, Some(us(400)));
    assert!(window.oldest_read.is_some_and(|age| age < us(400)));
    assert_eq!(counters.command_timeouts_other, 0);

    let before = bench.host.device.counters;
    // In the next window the write is older still, then completes late: counted there too, once.
    while bench.host.window.flows[1].write.count() == 0 {
        assert!(bench.step(bench.events.horizon()));
    }
    let window = bench.host.end_window(bench.events.now());
    assert_eq!(window.flows[1].write.count(), 1);
    let counters = of_window(&bench, bench.events.now()).since(&before);
    assert_eq!(counters.command_timeouts_write, 1);
    assert_eq!(window.oldest_write, Some(Duration::ZERO), "the next write has just been submitted");
}

/// Exactly the requests above the limit are counted, in every window, whether they complete in it or not.
#[test]
fn what_takes_longer_than_the_timeout_is_counted_and_nothing_else() {
    let mut spec = cramped();
    let mut counted = [0; 3];
    for (limit, end) in [(Some(us(5)), 5_000_000), (Some(us(900)), 5_000_000), (None, 5_000_000)] {
        spec.host.command_timeout = limit;
        let busy = SyntheticSpec { trim_share: 0.2, write_share: 0.4, flush_every: Some(5), ..mix(0.4) };
        let flows = [readers(), closed("busy", 16, busy), large_writes(1)];
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
        let mut expected = [0u64; 3];
        let slow =
            |since: SimTime, now: SimTime| limit.is_some_and(|l| now.as_ns() - since.as_ns() > l.as_ns());
        let at = |op: Op| match op {
            Op::Read => 0,
            Op::Write => 1,
            _ => 2,
        };
        let mut before: Vec<_> = Vec::new();
        loop {
            let completed = bench.host.device.completed();
            if !bench.step(SimTime(end)) {
                break;
            }
            let now = bench.events.now();
            let requests = bench.host.device.requests();
            if bench.host.device.completed() > completed {
                let stays = |id: RequestId, since: SimTime| {
                    requests.iter().any(|(i, r)| i == id && r.submitted == since)
                };
                let gone: Vec<_> = before.iter().filter(|&&(id, _, since)| !stays(id, since)).collect();
                assert_eq!(gone.len(), 1);
                expected[at(gone[0].1)] += u64::from(slow(gone[0].2, now));
            }
            before = requests.iter().map(|(id, r)| (id, r.op, r.submitted)).collect();
        }
        before.iter().for_each(|&(_, op, since)| expected[at(op)] += u64::from(slow(since, SimTime(end))));
        let mut c = bench.host.device.counters;
        c.add(&bench.host.device.overdue(SimTime(end)));
        let ours = [c.command_timeouts_read, c.command_timeouts_write, c.command_timeouts_other];
        assert_eq!(ours, expected, "{limit:?}");
        assert!(limit.is_some() || ours == [0; 3]);
        (0..3).for_each(|k| counted[k] += ours[k]);
    }
    assert!(counted.iter().all(|&n| n > 0), "{counted:?}");
}

/// The array knows the submission instant of the first write in the line for cache slots, at every event.
#[test]
fn the_array_is_told_of_the_write_that_has_waited_longest() {
    let spec = cramped();
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[readers(), large_writes(3)], 1);
    assert_eq!(bench.host.device.nand().oldest_write(), None);
    let (mut waiting, mut free, mut changes) = (0, 0, 0);
    let mut last = None;
    while bench.step(SimTime(400_000_000)) {
        let told = bench.host.device.nand().oldest_write();
        let entering = |r: &interpulse_drive::host_interface::request::Request| {
            r.op == Op::Write && r.admitted < r.units
        };
        let writes = || bench.host.device.requests().iter().map(|(_, r)| r).filter(|r| entering(r));
        // A write of which only a part is in the cache is the one at the head of the line.
        let head = writes().find(|r| r.admitted > 0).map(|r| r.submitted);
        match told {
            Some(since) => {
                let oldest = writes().map(|r| r.submitted).min();
                assert_eq!(Some(since), oldest, "whole units need no reads first, so the line is in order");
                waiting += 1;
            }
            None => {
                assert_eq!(head, None);
                free += 1;
            }
        }
        changes += u32::from(told != last);
        last = told;
    }
    assert!(waiting > 100 && free > 0 && changes > 5, "{waiting} {free} {changes}");
    bench.finish();
    assert_eq!(bench.host.device.nand().oldest_write(), None);
}
