//! Does a record replay with the latencies of the session, and does a client see the latencies of the drive?

use crate::drive_session::{ARRAY, DRIVE, Load, Session, replay, run};
use interpulse_serve::drive::class::Class;
use interpulse_serve::drive::clock::{Pace, WallTime};
use interpulse_serve::drive::report::Report;
use interpulse_serve::drive::view::{self, View};

const LOAD: Load = Load { count: 1_500, depth: 1, lateness: 90_000, seed: 1 };

/// The latencies of the session are those of the replay of its record, to the ns.
fn assert_replays(config: &str, session: &Session, name: &str) {
    let replayed = replay(config, &session.record, name);
    let mut classes = 0;
    for (class, of) in session.pacer.statistics.classes() {
        let replayed = &replayed[class as usize];
        assert!(of.latency.buckets().eq(replayed.buckets()), "{name}, {}", class.name());
        assert_eq!((of.latency.sum_ns(), of.latency.max()), (replayed.sum_ns(), replayed.max()), "{name}");
        classes += usize::from(of.latency.count() > 0);
    }
    assert!(classes >= 4, "{name}: {classes} classes of commands");
}

#[test]
fn a_record_replays_with_the_latencies_of_the_session_at_every_pace() {
    for (name, pace) in [("max", Pace::Max), ("real", Pace::REAL), ("slow", Pace::Dilated(20))] {
        for (depth, seed) in [(1, 3), (16, 4)] {
            let session = run(DRIVE, pace, Load { depth, seed, ..LOAD });
            assert_replays(DRIVE, &session, &format!("drive-{name}-{depth}"));
        }
    }
}

#[test]
fn a_record_of_an_array_replays_too() {
    for (name, pace) in [("max", Pace::Max), ("slow", Pace::Dilated(20))] {
        let session = run(ARRAY, pace, Load { count: 400, depth: 8, ..LOAD });
        assert_replays(ARRAY, &session, &format!("array-{name}"));
    }
}

#[test]
fn latencies_of_a_client_over_the_dilation_are_those_of_the_replay_within_the_reported_slip() {
    for dilation in [1, 20] {
        let load = Load { depth: 4, ..LOAD };
        let session = run(DRIVE, Pace::Dilated(dilation), load);
        let replayed = replay(DRIVE, &session.record, &format!("fidelity-{dilation}"));
        let slip = &session.pacer.statistics.slip;
        assert_eq!(slip.count(), load.count);
        let largest = session.client.iter().map(|of| of.2).max().expect("commands");
        assert_eq!(slip.max().expect("commands").as_ns(), largest);
        let mut reads: Vec<u64> =
            session.client.iter().filter(|of| Class::of(of.0.kind) == Class::Read).map(|of| of.1).collect();
        reads.sort_unstable();
        for share in [0.1, 0.5, 0.9, 0.99, 1.0] {
            let rank = (share * reads.len() as f64).ceil() as usize - 1;
            let seen = reads[rank] as f64 / f64::from(dilation);
            let simulated = replayed[Class::Read as usize].percentile(share).expect("reads").as_ns() as f64;
            // Arrivals are rounded down to whole ns of drive time; a percentile of a histogram lies within 0.2 %.
            let (early, late) =
                (simulated * 0.998 - 1.0, simulated * 1.002 + largest as f64 / f64::from(dilation));
            assert!((early..=late).contains(&seen), "{share}: {seen} of {early} to {late}");
        }
        assert!(largest > 60_000, "the system wakes threads late: {largest}");
    }
}

#[test]
fn lateness_changes_what_the_client_sees_and_not_what_the_drive_does() {
    // With one command, arrivals do not depend on the lateness of completions.
    let one = |lateness| run(DRIVE, Pace::REAL, Load { count: 1, lateness, ..LOAD });
    let (early, late) = (one(0), one(900_000));
    assert_eq!(early.record, late.record);
    assert_eq!(early.pacer.statistics.all().sum_ns(), late.pacer.statistics.all().sum_ns());
    assert_eq!((early.client[0].2, late.client[0].2 > 0), (0, true));
}

#[test]
fn a_report_warns_of_a_large_slip_and_names_a_pace_at_which_it_is_small() {
    let report = |dilation| {
        let load = Load { lateness: 30_000, ..LOAD };
        let mut session = run(DRIVE, Pace::Dilated(dilation), load);
        let (pace, capacity) = (Pace::Dilated(dilation), 0);
        let of =
            view::Session { pace, config_hash: String::new(), notes: Vec::new(), capacity, is_array: false };
        let view = View::new(&of, &mut session.pacer, WallTime(1));
        let audit = session.pacer.device.finish().expect("the audit holds");
        Report::new(view, None, audit, true)
    };
    let warned = report(1).warnings;
    assert!(warned[0].contains("the p50 of the slip") && warned[0].contains("3 %"), "{warned:?}");
    let pace = warned.iter().filter_map(|line| line.rsplit(' ').next()?.parse::<u32>().ok()).max();
    // The draws of the lateness are others at another pace.
    let pace = pace.expect("a pace") * 3 / 2;
    assert_eq!(report(pace).warnings, Vec::<String>::new(), "at pace {pace}");
}
