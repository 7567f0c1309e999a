//! Twin tests: statistics of the issued requests against the rows, within 2 %.

use interpulse_engine::{Bytes, Duration, Op, Request, SimTime, Streams};
use interpulse_settings::Document;
use interpulse_workload::trace::statistics::Measurer;
use interpulse_workload::twin::rows;
use interpulse_workload::{
    Fit, Flow, FlowSpec, Pacing, TWINS, TracePacing, TraceStatistics, TwinRow, TwinSizes, TwinSpec,
    WorkloadError,
};
use proptest::prelude::*;

/// As large as possible: no row is rejected for its size.
const HUGE: u64 = 1 << 44;

fn spec(row: &TwinRow) -> TwinSpec {
    TwinSpec { row: row.clone(), bursts: None, pacing: TracePacing::Recorded { speed: 1.0 }, fit: Fit::Error }
}

fn open(spec: TwinSpec, capacity: u64, seed: u64) -> Result<Flow, WorkloadError> {
    Flow::new(&FlowSpec::twin("twin", spec), capacity, &Streams::new(seed), 0)
}

/// Statistics of all requests of the twin.
fn measured(row: &TwinRow, seed: u64) -> Result<TraceStatistics, WorkloadError> {
    let mut flow = open(spec(row), HUGE, seed)?;
    let mut measurer = Measurer::default();
    while let Some((at, request)) = flow.next()? {
        measurer.count(at, 0, request);
    }
    Ok(measurer.statistics())
}

/// Description of the first figure that differs from the row by more than 2 %.
fn missed(row: &TwinRow, seen: &TraceStatistics) -> Option<String> {
    let figures = [
        ("requests", row.requests as f64, seen.requests as f64),
        ("write share", row.write_share, seen.write_share().unwrap_or(0.0)),
        ("read share", 1.0 - row.write_share, 1.0 - seen.write_share().unwrap_or(0.0)),
        ("read volume", row.read_bytes(), seen.read().get() as f64),
        ("written volume", row.written_bytes(), seen.written().get() as f64),
        ("unique volume", row.unique_written_bytes(), seen.unique_written.get() as f64),
        ("rewritten share", row.rewritten_share, seen.rewritten_share().unwrap_or(0.0)),
        ("mean gap", row.mean_gap.as_ns() as f64, seen.mean_gap_ns.unwrap_or(0.0)),
        ("squared variation", row.squared_variation, seen.gap_scv.unwrap_or(0.0)),
    ];
    let skew = row.update_skew.map(|skew| ("update skew", skew, seen.update_skew().unwrap_or(0.0)));
    let some_writes = row.write_share > 0.0;
    let means = [
        ("mean read", row.reads.mean_bytes(), seen.mean_read_bytes().unwrap_or(0.0), row.write_share < 1.0),
        ("mean write", row.writes.mean_bytes(), seen.mean_write_bytes().unwrap_or(0.0), some_writes),
    ];
    let means =
        means.into_iter().filter(|&(.., there)| there).map(|(name, asked, got, _)| (name, asked, got));
    let all = figures.into_iter().chain(skew.filter(|_| some_writes)).chain(means);
    let near = |asked: f64, got: f64| (got - asked).abs() <= 0.02 * asked;
    all.into_iter()
        .find(|&(_, asked, got)| !near(asked, got))
        .map(|(name, asked, got)| format!("{name}: asked for {asked}, got {got}"))
}

#[test]
fn every_row_is_matched_by_a_short_twin() {
    for (name, _) in TWINS {
        let row = rows::row(name, Some(20_000)).unwrap();
        assert_eq!(missed(&row, &measured(&row, 1).unwrap()), None, "{name}");
    }
}

#[test]
#[ignore = "long: all rows at full length, 22 million requests"]
fn every_row_is_matched_at_full_length() {
    for (name, _) in TWINS {
        let row = rows::row(name, None).unwrap();
        assert_eq!(missed(&row, &measured(&row, 1).unwrap()), None, "{name}");
    }
}

fn plain_row() -> TwinRow {
    TwinRow {
        name: "plain".into(),
        requests: 20_000,
        write_share: 0.5,
        reads: TwinSizes::Mean(8192.0),
        writes: TwinSizes::Mean(12_288.0),
        rewritten_share: 0.8,
        update_skew: Some(0.739),
        update_shape: Default::default(),
        mean_gap: Duration::from_us(500),
        squared_variation: 10.0,
        read_overlap: 0.5,
        read_only: None,
    }
}

/// Extreme rows that must be matched, not rejected.
#[test]
fn extreme_rows_are_matched() {
    let listed = |list: &[(u64, f64)]| {
        TwinSizes::Listed(list.iter().map(|&(bytes, weight)| (Bytes(bytes), weight)).collect())
    };
    let odd = listed(&[(512, 0.1), (3072, 0.2), (4096, 0.4), (4608, 0.2), (65_536, 0.1)]);
    let corners: Vec<TwinRow> = vec![
        plain_row(),
        TwinRow { write_share: 0.01, rewritten_share: 0.5, update_skew: Some(0.6), ..plain_row() },
        TwinRow { write_share: 0.99, ..plain_row() },
        TwinRow { rewritten_share: 0.999, update_skew: Some(0.4), ..plain_row() },
        TwinRow { rewritten_share: 0.999, update_skew: Some(0.99), ..plain_row() },
        TwinRow { rewritten_share: 0.0, update_skew: None, ..plain_row() },
        TwinRow { rewritten_share: 0.05, update_skew: None, ..plain_row() },
        TwinRow { rewritten_share: 0.05, update_skew: Some(1.0), ..plain_row() },
        TwinRow { rewritten_share: 0.4, update_skew: Some(0.4), ..plain_row() },
        TwinRow { squared_variation: 80.0, mean_gap: Duration::from_us(100), ..plain_row() },
        TwinRow { squared_variation: 1.0, mean_gap: Duration::from_ms(1000), ..plain_row() },
        TwinRow { writes: TwinSizes::Mean(1500.0), reads: TwinSizes::Mean(512.0), ..plain_row() },
        TwinRow { writes: TwinSizes::Mean(262_144.0), ..plain_row() },
        TwinRow { writes: odd.clone(), reads: odd.clone(), ..plain_row() },
        TwinRow { writes: odd, rewritten_share: 0.97, update_skew: Some(0.5), ..plain_row() },
        TwinRow {
            write_share: 0.0,
            read_overlap: 0.0,
            rewritten_share: 0.0,
            update_skew: None,
            ..plain_row()
        },
        TwinRow { write_share: 1.0, ..plain_row() },
    ];
    for row in corners {
        let seen = measured(&row, 7).unwrap_or_else(|error| panic!("{row:?}: {error}"));
        assert_eq!(missed(&row, &seen), None, "{row:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    /// Any row is matched or rejected; one with many extents and many updates of each is matched.
    #[test]
    fn random_rows_are_matched_or_rejected(
        requests in 20_000u64..40_000,
        write_share in 0.01f64..0.99,
        read_mean in 512.0f64..100_000.0,
        write_mean in 512.0f64..100_000.0,
        rewritten in 0.0f64..0.999,
        skew in 0.4f64..0.99,
        gap_us in 100u64..1_000_000,
        squared_variation in 1.0f64..80.0,
        seed in any::<u64>(),
    ) {
        let row = TwinRow {
            requests,
            write_share,
            reads: TwinSizes::Mean(read_mean),
            writes: TwinSizes::Mean(write_mean),
            rewritten_share: rewritten,
            update_skew: Some(skew),
            mean_gap: Duration::from_us(gap_us),
            squared_variation,
            ..plain_row()
        };
        let extents = row.write_requests() as f64 * (1.0 - rewritten);
        // Pages get rewritten / (1 - rewritten) updates each: fewer than 0.2 / skew of them fit on too few.
        let roomy = extents >= 30.0 && rewritten / (1.0 - rewritten) > 1.05 * 0.2 / skew;
        match measured(&row, seed) {
            Ok(seen) => prop_assert_eq!(missed(&row, &seen), None, "{:?}", row),
            Err(error) => prop_assert!(!roomy, "{error}: {row:?}"),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_seed_others() {
    let drained = |seed| crate::common::drain(&mut open(spec(&plain_row()), HUGE, seed).unwrap());
    let first = drained(1);
    assert_eq!(first, drained(1));
    assert_ne!(first, drained(2));
    assert_eq!(first[0].0, SimTime::ZERO);
}

/// Half of a twin has half of the writes and half of the time.
#[test]
fn half_a_twin_is_half_of_everything() {
    let all = crate::common::drain(&mut open(spec(&plain_row()), HUGE, 1).unwrap());
    let half = &all[..all.len() / 2];
    let writes = half.iter().filter(|(_, r)| r.op == Op::Write).count() as f64;
    // Drawn without replacement, 10,000 of 20,000: sigma 50.
    assert!((writes - 5000.0).abs() < 300.0, "{writes} writes");
    let share = half.last().unwrap().0.as_ns() as f64 / all.last().unwrap().0.as_ns() as f64;
    // 10,000 gaps of squared variation 10, without replacement: sigma 0.5 sqrt(10 / 20,000).
    assert!((share - 0.5).abs() < 6.0 * 0.011_2, "{share} of the time");
}

#[test]
fn speed_start_and_closed_pacing_are_those_of_traces() {
    let spaced = |spec: TwinSpec| crate::common::drain(&mut open(spec, HUGE, 1).unwrap());
    let plain = spaced(spec(&plain_row()));
    let fast = spaced(TwinSpec { pacing: TracePacing::Recorded { speed: 4.0 }, ..spec(&plain_row()) });
    let requests = |all: &[(SimTime, Request)]| all.iter().map(|&(_, request)| request).collect::<Vec<_>>();
    assert_eq!(requests(&plain), requests(&fast));
    let ratio = plain.last().unwrap().0.as_ns() as f64 / fast.last().unwrap().0.as_ns() as f64;
    assert!((ratio - 4.0).abs() < 1e-6, "{ratio}");
    let closed = TwinSpec { pacing: TracePacing::Closed { depth: 5 }, ..spec(&plain_row()) };
    let mut flow = open(closed, HUGE, 1).unwrap();
    assert_eq!(flow.pacing(), Pacing::Closed { depth: 5 });
    let closed = crate::common::drain(&mut flow);
    assert_eq!(requests(&plain), requests(&closed));
    assert!(closed.iter().all(|&(at, _)| at == SimTime::ZERO));
}

#[test]
fn a_twin_beyond_the_drive_is_refused_or_fitted() {
    let small = 40_000;
    let message = open(spec(&plain_row()), small, 1).err().unwrap().to_string();
    assert!(
        message.starts_with("flow `twin`: `fit` is error, and the twin plain takes ")
            && message.ends_with(
                "legal: a twin within the drive's 40000 sectors (fewer requests make a smaller one), or fit = fold or scale"
            ),
        "{message}"
    );
    for fit in [Fit::Fold, Fit::Scale] {
        let all = crate::common::drain(&mut open(TwinSpec { fit, ..spec(&plain_row()) }, small, 1).unwrap());
        assert!(all.iter().all(|(_, r)| r.sectors > 0 && r.end() <= small));
    }
}

const FILE_ROW: &str = "requests = 20000\nwrite-share = \"50%\"\nread-size = \"8KiB\"\nwrite-size = \"12KiB\"\n\
                        rewritten-share = \"80%\"\nupdate-skew = \"70%\"\nmean-gap = \"1ms\"\nsquared-variation = 4\n";

fn message(text: &str) -> String {
    let text = format!("[twin]\n{text}");
    let document = Document::from_toml(&text, "row.toml").unwrap();
    let read = TwinRow::read(&mut document.section("twin").unwrap(), "row.toml", None);
    read.err().map_or_else(|| "no mistake was found".to_string(), |error| error.to_string())
}

#[test]
fn mistakes_in_a_row_name_file_line_and_what_is_legal() {
    assert_eq!(message(FILE_ROW), "no mistake was found");
    let change = |from: &str, to: &str| {
        assert!(FILE_ROW.contains(from));
        message(&FILE_ROW.replace(from, to))
    };
    for (from, to, expected) in [
        (
            "write-size = \"12KiB\"",
            "write-size = \"12\"",
            "row.toml:5: twin.write-size: seen \"12\"; expected a size (give a unit, such as \"11.6KiB\")",
        ),
        ("update-skew", "update-scew", "row.toml:7: twin.update-scew: unknown key; "),
        (
            "squared-variation = 4",
            "squared-variation = 0.5",
            "row.toml:9: twin.squared-variation: seen 0.5; expected a number from 1 to 10000",
        ),
        (
            "update-skew = \"70%\"",
            "update-skew = \"10%\"",
            "row.toml:7: twin.update-skew: seen \"10%\"; expected a fraction from 0.2 to 1",
        ),
        (
            "rewritten-share = \"80%\"",
            "rewritten-share = \"5%\"",
            "row.toml:7: twin.update-skew: seen \"70%\"; expected a share that these sizes and this unique volume allow: \
             1.0000 (updates spread evenly) to 1.0000",
        ),
        (
            "rewritten-share = \"80%\"",
            "rewritten-share = \"80%\"\nunique-written = \"1GiB\"",
            "row.toml:7: twin.unique-written = 1GiB and twin.requests = 20000 and twin.write-share = 0.5: more than the \
             122880000B that the row writes in all",
        ),
        (
            "rewritten-share = \"80%\"",
            "rewritten-share = \"80%\"\nunique-written = \"50MB\"",
            "row.toml:6: twin.rewritten-share = 0.8 and twin.unique-written = ",
        ),
        (
            "rewritten-share = \"80%\"",
            "rewritten-share = \"99.999%\"",
            "row.toml:6: twin.rewritten-share: seen \"99.999%\"; expected a unique volume that holds whole writes",
        ),
        ("rewritten-share = \"80%\"\n", "", "row.toml:1: twin.rewritten-share: seen "),
        (
            "write-size = \"12KiB\"",
            "write-sizes = [\"4KiB\", \"1000B\"]\nwrite-weights = [1, 1]",
            "row.toml:5: twin.write-sizes: seen [\"4KiB\", \"1000B\"]; expected multiples of 512B",
        ),
        (
            "write-size = \"12KiB\"",
            "write-sizes = [\"4KiB\", \"8KiB\"]\nwrite-weights = [1]",
            "row.toml:6: twin.write-weights = [1] and twin.write-sizes = [4KiB, 8KiB]: there must be one weight for each size",
        ),
        (
            "write-share = \"50%\"",
            "write-share = 0",
            "row.toml:5: twin.write-size: does not apply; no request writes",
        ),
        (
            "requests = 20000",
            "requests = 8",
            "row.toml:9: twin.squared-variation: seen 4; expected at most the variation possible with 8 requests",
        ),
        (
            "requests = 20000",
            "requests = 1",
            "row.toml:2: twin.requests: seen 1; expected a whole number from 2 to 100000000",
        ),
    ] {
        let seen = change(from, to);
        assert!(seen.starts_with(expected), "{from} -> {to}:\n{seen}\n{expected}");
    }
}

/// Scaling preserves shares; the numbers in the file apply to its own length.
#[test]
fn volumes_follow_the_requests() {
    let whole = rows::row("msr-hm-0", None).unwrap();
    let short = rows::row("msr-hm-0", Some(100_000)).unwrap();
    assert!((whole.unique_written_bytes() / (0.764 * f64::from(1 << 30)) - 1.0).abs() < 1e-9);
    assert!((short.rewritten_share - whole.rewritten_share).abs() < 1e-12);
    assert_eq!(short.requests, 100_000);
    assert_eq!(
        rows::row("msr-hm-9", None).unwrap_err().to_string().split(';').next(),
        Some("twin: seen \"msr-hm-9\"")
    );
}
