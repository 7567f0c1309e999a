//! Logs of fio: version 2 without times, and version 3 with times in a wrong unit.

use crate::common::{ROOMY, file, open};
use interpulse_engine::{Duration, Op};
use interpulse_workload::{Format, Pacing, TimeUnit, TracePacing, TraceSpec, measure};

const V2: &str = "fio version 2 iolog\n/dev/a1 add\n/dev/a1 open\n/dev/a1 read 4096 2048\n/dev/a1 wait 250\n\
                  /dev/a1 wait 50\n/dev/a1 write 8192 3072\n/dev/a1 trim 16384 8192\n/dev/a1 sync 0 0\n/dev/a1 close\n";

fn closed(name: &str, text: &str) -> TraceSpec {
    TraceSpec { pacing: TracePacing::Closed { depth: 3 }, ..TraceSpec::new(file(name, text.as_bytes())) }
}

#[test]
fn version_2_is_replayed_closed_loop_with_its_pauses() {
    let mut flow = open(closed("v2.log", V2), ROOMY).unwrap();
    assert_eq!(flow.pacing(), Pacing::Closed { depth: 3 });
    let mut seen = Vec::new();
    while let Some((_, request)) = flow.next().unwrap() {
        seen.push((request.op, request.sector, request.sectors, flow.terms().unwrap().wait));
    }
    let none = Duration::ZERO;
    let expected = [
        (Op::Read, 8, 4, none),
        (Op::Write, 16, 6, Duration::from_us(300)),
        (Op::Trim, 32, 16, none),
        (Op::Flush, 0, 0, none),
    ];
    assert_eq!(seen, expected);
    let found = flow.trace_summary().unwrap();
    assert_eq!((found.format, found.rows, found.waits), ("fio-v2", 4, 1));
    assert!(found.assumed.contains("without times"), "{}", found.assumed);
}

#[test]
fn version_2_is_measured_without_times() {
    let path = file("v2_measured.log", V2.as_bytes());
    let found = measure(&TraceSpec::new(path), &mut |_| true).unwrap().unwrap();
    assert_eq!((found.has_times, found.statistics.requests, found.statistics.flushes), (false, 2, 1));
}

fn refusal(spec: TraceSpec) -> String {
    open(spec, ROOMY).err().expect("the trace is refused").to_string()
}

#[test]
fn version_2_refuses_what_needs_times_and_names_its_faults() {
    let spec = |text: &str| closed("v2_refused.log", text);
    let recorded = TraceSpec { pacing: TracePacing::Recorded { speed: 1.0 }, ..spec(V2) };
    assert!(refusal(recorded).ends_with(
        "the format fio-v2 has no times, so there is no recorded pacing; legal: closed loop, --set \
         flow.0.pacing=closed --set flow.0.depth=32"
    ));
    let unit = TraceSpec { time_unit: Some(TimeUnit::Ns), ..spec(V2) };
    assert!(refusal(unit).ends_with("has no times; legal: leave out --set flow.0.time-unit"));
    let named = TraceSpec { format: Format::Fio, ..spec(V2) };
    assert!(refusal(named).contains("a version without times; legal: version 3, or format = fio-v2"));
    for (bad, message) in [
        ("/d read 0", "has 3 columns; legal: 4 columns"),
        ("/d wait", "has 2 columns; legal: 3 columns"),
        ("/d wait -5", "`wait` is `-5`, which is negative"),
        ("/d wait 86400000001", "`wait` is `86400000001`, which is too large"),
        ("/d fsync 0 0", "`action` is `fsync`, which is not an action"),
        ("/d trim 0 0", "`length` is `0`, which is too small"),
        ("/d read x 512", "`offset` is `x`, which is not a number"),
        ("/d", "has 1 column"),
    ] {
        let text = format!("fio version 2 iolog\n/d read 0 512\n/d write 0 512\n{bad}\n");
        let found = refusal(TraceSpec { format: Format::FioV2, ..spec(&text) });
        assert!(found.contains(&format!("line 4: {message}")), "{bad}: {found}");
    }
}

#[test]
fn times_in_ns_are_refused_until_the_unit_is_given() {
    let text: String =
        (0..20).map(|k| format!("{} /d read {} 4096\n", 7_000_123 + k * 100_321, k * 4096)).collect();
    let spec = || TraceSpec::new(file("ns.fio", text.as_bytes()));
    let found = refusal(spec());
    assert!(
        found.contains(
            "its times are implausible in us: 9.968 requests per second, none closer than 100.321ms"
        ) && found.contains("legal: --set flow.0.time-unit=ns"),
        "{found}"
    );
    for (unit, span) in [(TimeUnit::Ns, 19 * 100_321), (TimeUnit::Us, 19 * 100_321_000)] {
        let flow = open(TraceSpec { time_unit: Some(unit), ..spec() }, ROOMY).unwrap();
        assert_eq!(flow.trace_summary().unwrap().span, Duration(span));
    }
    // Times do not matter in a closed loop.
    assert!(open(TraceSpec { pacing: TracePacing::Closed { depth: 1 }, ..spec() }, ROOMY).is_ok());
}
