//! Fuzz entry point: arbitrary bytes as input of every trace reader.

use crate::spec::Pacing;
use crate::trace::format::{Columns, Format};
use crate::trace::input::Input;
use crate::trace::replay::Replay;
use crate::trace::spec::{Fit, Reorder, Repeat, RepeatAddresses, TracePacing, TraceSpec, Treatment};
use crate::trace::unit::TimeUnit;
use interpulse_engine::{Bytes, Op, SimTime};

/// Sectors of the drive that replays fuzzed traces: odd, to exercise unaligned capacities.
const CAPACITY: u64 = 1_000_003;

/// Replays `bytes` as a trace of every format, strictly and leniently. Panics if a reader accepts the bytes and then
/// times decrease, a request exceeds the drive or the two passes disagree. Returns the number of accepted replays.
pub fn fuzz_trace(bytes: &[u8]) -> usize {
    let strict = TraceSpec::new("fuzz");
    let lenient = TraceSpec {
        pacing: TracePacing::Recorded { speed: 0.3 },
        fit: Fit::Fold,
        reorder: Reorder::Clamp,
        skip_bad_rows: true,
        discards: Treatment::Skip,
        flushes: Treatment::Skip,
        repeat: Repeat { passes: 2, addresses: RepeatAddresses::Shifted },
        ..strict.clone()
    };
    let folded = TraceSpec { discards: Treatment::Replay, flushes: Treatment::Replay, ..lenient.clone() };
    let closed = TraceSpec {
        pacing: TracePacing::Closed { depth: 7 },
        fit: Fit::Scale,
        skip_bad_rows: true,
        ..strict.clone()
    };
    let mut accepted = 0;
    let by_heading = Format::Columns(Columns::of(&[]));
    for format in [Format::Auto, by_heading].into_iter().chain(Format::readers()) {
        // `ascii` requires an explicit time unit: the one without another format is chosen.
        let time_unit = matches!(format, Format::Ascii(_)).then_some(TimeUnit::Us);
        let address_unit = format.needs_address_unit().then_some(Bytes(512));
        for spec in [&strict, &lenient, &folded, &closed] {
            let pacing = if format.has_times() { spec.pacing } else { closed.pacing };
            let spec = TraceSpec { format: format.clone(), time_unit, address_unit, pacing, ..spec.clone() };
            accepted += usize::from(replay(bytes, &spec));
        }
    }
    accepted
}

fn replay(bytes: &[u8], spec: &TraceSpec) -> bool {
    let start = SimTime(17);
    let mut replay = match Replay::from_input(Input::memory("fuzz", bytes), spec, start, CAPACITY) {
        Ok(replay) => replay,
        Err(error) => {
            assert!(error.to_string().starts_with("trace fuzz: "), "{error}");
            return false;
        }
    };
    let (mut rows, mut latest, mut counts) = (0, start, [0; 4]);
    while let Some((at, request)) = replay.next(|_, _| {}).expect("bytes in memory do not change") {
        assert!(at >= latest, "row {rows} arrives at {at}, before {latest}");
        for request in [Some(request), replay.terms().then].into_iter().flatten() {
            let empty = request.sectors == 0;
            assert_eq!(empty, request.op == Op::Flush, "row {rows}: {request:?}");
            assert!(request.end() <= CAPACITY, "row {rows} leaves the drive: {request:?}");
            let op = [Op::Read, Op::Write, Op::Trim, Op::Flush].iter().position(|&op| op == request.op);
            counts[op.expect("a trace has no zone commands")] += 1;
        }
        (rows, latest) = (rows + 1, at);
    }
    let summary = replay.summary();
    assert_eq!(counts.iter().sum::<u64>(), summary.replayed);
    let passes = u64::from(summary.passes);
    let [reads, writes, discards, flushes] = counts;
    let expected = [summary.reads, summary.writes, summary.flushes].map(|count| passes * count);
    assert_eq!([reads, writes, flushes], expected, "the passes disagree");
    // A discard that is folded or larger than a part has several parts.
    assert!(discards >= passes * summary.discards && (discards > 0) == (summary.discards > 0));
    assert_eq!(
        summary.rows,
        summary.reads + summary.writes + summary.discards + summary.flushes - summary.flushes_of_writes
    );
    assert!(replay.pacing() == Pacing::Open || latest == start);
    true
}
