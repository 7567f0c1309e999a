//! The scheme of docs/tutorials/own-scheme.md, compiled as a reader compiles it in `src/suspend/`.

use interpulse_engine::{Duration, SimTime};
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{LongOpStatus, Stop, StopRequest, SuspendCosts, SuspendScheme};

#[path = "../../../examples/schemes/nearest.rs"]
mod nearest;

/// The stop of a train of four loops of 100 us, at a progress.
fn stop_at(elapsed_us: u64, committed: bool) -> Stop {
    let us = |us| Duration::from_ns(1_000 * us);
    let train = PulseTrain::even(4, us(60), us(0), us(40));
    let op = LongOpStatus {
        train: &train,
        elapsed: us(elapsed_us),
        committed,
        planes: 1,
        suspends: 0,
        first_suspend: SimTime(0),
        resumed: SimTime(0),
        suspended: Duration::ZERO,
        now: SimTime(1_000_000),
        oldest_write: None,
    };
    let costs = SuspendCosts { entry: us(20), resume: us(5), reset: us(1) };
    nearest::Nearest.stop(&StopRequest { op: &op, costs: &costs }).expect("every train can stop")
}

#[test]
fn it_stops_at_the_nearer_end_of_the_loop() {
    let found =
        [(100, false), (130, false), (149, false), (150, false), (199, false), (200, true), (230, true)]
            .map(|(at, committed)| stop_at(at, committed))
            .map(|stop| (stop.after.as_ns() / 1_000, stop.keeps.as_ns() / 1_000));
    assert_eq!(found, [(0, 100), (0, 100), (0, 100), (50, 200), (1, 200), (100, 300), (70, 300)]);
}
