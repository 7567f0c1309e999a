//! Reader tests: parsed requests against the recorded ones.

use crate::common::{ROOMY, drain, file, open};
use interpulse_engine::{Bytes, Duration, Op, Request, SimTime, Streams};
use interpulse_workload::generate::{Recorded, TraceRecipe, pack, trace_bytes, write_trace};
use interpulse_workload::{
    AsciiLayout, Fit, Flow, FlowSpec, Format, Pacing, Packing, Reorder, TimeUnit, TracePacing, TraceSpec,
    TypeCode,
};

fn recorded(at_us: u64, device: u32, op: Op, sector: u64, sectors: u32) -> Recorded {
    Recorded { at: SimTime(at_us * 1000), device, request: Request::new(op, sector, sectors) }
}

/// Times and requests of a `mqsim` text under `change`.
fn replay(name: &str, text: &str, capacity: u64, change: impl Fn(&mut TraceSpec)) -> Vec<(u64, u64, u32)> {
    let mut spec = TraceSpec { format: Format::MqSim, ..TraceSpec::new(file(name, text.as_bytes())) };
    change(&mut spec);
    let mut flow = open(spec, capacity).unwrap();
    drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.sector, r.sectors)).collect()
}

/// Every format in every packing results in the same requests: named, detected by the extension, and detected by the
/// rows. Columns without a heading are never detected.
#[test]
fn every_format_in_every_packing_gives_the_recorded_requests() {
    for format in Format::readers() {
        let name = format.name();
        // Records of whole seconds, all reads, and of no recognisable content.
        let recipe = match name {
            "oraclegeneral" => TraceRecipe { read_percent: 100, gap_us_max: 0, ..Default::default() },
            _ => TraceRecipe::default(),
        };
        let expected: Vec<_> = recipe.requests().map(|r| (r.at, r.request)).collect();
        for (packing, suffix) in [(Packing::Plain, ""), (Packing::Gzip, ".gz"), (Packing::Zstd, ".ZST")] {
            let bytes = trace_bytes(&recipe, format.clone(), packing).unwrap();
            let ending = file(&format!("every.{name}{suffix}"), &bytes);
            let undetermined = file(&format!("undetermined_{name}{suffix}"), &bytes);
            let detected = if name == "columns" || !format.is_detectable() { 1 } else { 3 };
            for (path, format) in
                [(&ending, format.clone()), (&ending, Format::Auto), (&undetermined, Format::Auto)]
                    .into_iter()
                    .take(detected)
            {
                // These rows are in us; without a date their unit cannot be inferred.
                let time_unit = matches!(name, "ascii" | "columns").then_some(TimeUnit::Us);
                let address_unit = format.needs_address_unit().then_some(Bytes(512));
                let mut spec = TraceSpec { format, time_unit, address_unit, ..TraceSpec::new(path) };
                let timed = name != "fio-v2";
                if !timed {
                    spec.pacing = TracePacing::Closed { depth: 1 };
                }
                let mut flow = open(spec, ROOMY).unwrap();
                let times = |&(at, request)| (if timed { at } else { SimTime::ZERO }, request);
                let expected: Vec<_> = expected.iter().map(times).collect();
                assert_eq!(drain(&mut flow), expected, "{}", path.display());
                let summary = flow.trace_summary().unwrap();
                assert_eq!((summary.packing, summary.rows, summary.bad_rows), (packing, 1000, 0));
                // MQSim and SSDSim use the same rows.
                let detected = if path == &undetermined && name == "ssdsim" { "mqsim" } else { name };
                assert_eq!(summary.format, detected);
            }
        }
    }
}

/// Ascii rows in every unit and with both type codes.
#[test]
fn the_ascii_family_is_read_as_it_is_named() {
    let seen = |text: &str, time_unit, types| {
        let format = Format::Ascii(AsciiLayout { types });
        let path = file("family.txt", text.as_bytes());
        let spec = TraceSpec { format, time_unit: Some(time_unit), ..TraceSpec::new(path) };
        let mut flow = open(spec, ROOMY).unwrap();
        drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op)).collect::<Vec<_>>()
    };
    let text = "1000 0 0 8 1\n1003 0 8 8 0\n";
    for (unit, ns) in [
        (TimeUnit::Ns, 3),
        (TimeUnit::Ticks, 300),
        (TimeUnit::Us, 3_000),
        (TimeUnit::Ms, 3_000_000),
        (TimeUnit::S, 3_000_000_000),
    ] {
        assert_eq!(seen(text, unit, TypeCode::ZeroWrites), [(0, Op::Read), (ns, Op::Write)]);
        assert_eq!(seen(text, unit, TypeCode::OneWrites), [(0, Op::Write), (ns, Op::Read)]);
    }
    let decimals = "1.5 0 0 8 1\n1.7500004 0 8 8 0\n";
    assert_eq!(seen(decimals, TimeUnit::Ms, TypeCode::ZeroWrites), [(0, Op::Read), (250_000, Op::Write)]);
}

/// The content determines the packing, whatever the file name; several members and frames are concatenated.
#[test]
fn packing_is_detected_by_the_first_bytes() {
    let recipe = TraceRecipe { rows: 10, ..Default::default() };
    let text = trace_bytes(&recipe, Format::MqSim, Packing::Plain).unwrap();
    let (head, tail) = text.split_at(text.len() / 2);
    for packing in [Packing::Gzip, Packing::Zstd] {
        let bytes = [pack(head, packing).unwrap(), pack(tail, packing).unwrap()].concat();
        let mut flow = open(TraceSpec::new(file(&format!("{packing}.mqsim"), &bytes)), ROOMY).unwrap();
        assert_eq!(drain(&mut flow).len(), 10);
    }
}

#[test]
fn line_ends_comments_and_blanks_do_not_matter() {
    let rows = replay(
        "lines.mqsim",
        "\u{feff}# head\r\n\r\n1000 0 8 8 1\r\n  \t\n # middle\n  2000\t0   16 8  0  \n3000 0 0 8 1",
        ROOMY,
        |_| {},
    );
    assert_eq!(rows, [(0, 8, 8), (1000, 16, 8), (2000, 0, 8)]);
}

/// Bytes are widened to whole sectors; times are rounded down to 1 ns.
#[test]
fn bytes_and_decimals_are_converted() {
    let msr = "10,a,0,Read,1023,2,0\n15,a,0,Write,512,513,0\n";
    let mut flow = open(TraceSpec::new(file("bytes.msr", msr.as_bytes())), ROOMY).unwrap();
    let seen: Vec<_> =
        drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
    assert_eq!(seen, [(0, Op::Read, 1, 2), (500, Op::Write, 1, 2)]);

    let spc = "3,7,512,R,1\n3,7,700,w,1.0000000019\n3,7,1,W,1.25\n";
    let mut flow = open(TraceSpec::new(file("decimals.spc", spc.as_bytes())), ROOMY).unwrap();
    let seen: Vec<_> =
        drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
    assert_eq!(seen, [(0, Op::Read, 7, 1), (1, Op::Write, 7, 2), (250_000_000, Op::Write, 7, 1)]);
}

#[test]
fn the_summary_counts_what_is_there() {
    let rows = [
        recorded(5, 2, Op::Read, 100, 8),
        recorded(7, 0, Op::Write, 4000, 16),
        recorded(8, 2, Op::Write, 50, 1),
        recorded(20, 2, Op::Read, 90, 4),
    ];
    let mut bytes = Vec::new();
    write_trace(&mut bytes, Format::DiskSimAscii, rows).unwrap();
    let flow = open(TraceSpec::new(file("summary.disksim-ascii", &bytes)), ROOMY).unwrap();
    let summary = flow.trace_summary().unwrap();
    assert_eq!((summary.format, summary.rows, summary.reads, summary.writes), ("disksim-ascii", 4, 2, 2));
    assert_eq!((summary.read_bytes, summary.written_bytes), (Bytes(12 * 512), Bytes(17 * 512)));
    assert_eq!((summary.span, summary.min_gap), (Duration::from_us(15), Some(Duration::from_us(1))));
    let devices: Vec<_> = summary
        .devices
        .iter()
        .map(|d| (d.number, d.rows, d.first_sector, d.end_sector, d.placed_at))
        .collect();
    assert_eq!(devices, [(0, 1, 4000, 4016, 0), (2, 3, 50, 108, 4096)]);
}

/// Devices are placed side by side in ascending order of host and number, each rounded up to 1 MiB.
#[test]
fn devices_are_placed_side_by_side() {
    let text = "0,b,1,Read,0,512,0\n0,b,0,Read,1048576,512,0\n0,a,7,Read,512,512,0\n0,b,1,Read,1024,512,0\n";
    let mut flow = open(TraceSpec::new(file("devices.msr", text.as_bytes())), ROOMY).unwrap();
    let sectors: Vec<u64> = drain(&mut flow).iter().map(|(_, r)| r.sector).collect();
    // a_7 at 0 (1 MiB), b_0 at 2048 (2 MiB), b_1 at 6144.
    assert_eq!(sectors, [6144, 2048 + 2048, 1, 6146]);
}

#[test]
fn folding_never_straddles_the_end() {
    let text = "0 0 5 8 1\n1 0 1003 8 1\n2 0 995 8 1\n3 0 2999 8 1\n";
    assert_eq!(
        replay("fold.mqsim", text, 1000, |spec| spec.fit = Fit::Fold),
        [(0, 5, 8), (1, 3, 8), (2, 992, 8), (3, 992, 8)]
    );
}

#[test]
fn scaling_maps_the_occupied_range_onto_the_drive() {
    // Occupied: 1000 to 5000; onto 2000 sectors, halved.
    let text = "0 0 1000 8 1\n1 0 3000 8 1\n2 0 3010 8 1\n3 0 4992 8 1\n";
    assert_eq!(
        replay("shrink.mqsim", text, 2000, |spec| spec.fit = Fit::Scale),
        [(0, 0, 8), (1, 1000, 8), (2, 1000, 8), (3, 1992, 8)]
    );
    assert_eq!(
        replay("stretch.mqsim", text, 40_000, |spec| spec.fit = Fit::Scale),
        [(0, 0, 8), (1, 20_000, 8), (2, 20_096, 8), (3, 39_920, 8)]
    );
}

#[test]
fn speed_start_and_stop_shape_recorded_times() {
    let text = "100 0 0 8 1\n200 0 0 8 1\n310 0 0 8 1\n";
    let fast = |spec: &mut TraceSpec| spec.pacing = TracePacing::Recorded { speed: 2.0 };
    let times: Vec<u64> = replay("fast.mqsim", text, ROOMY, fast).iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 50, 105]);

    let path = file("bounded.mqsim", text.as_bytes());
    let spec = FlowSpec {
        start: SimTime(1000),
        stop: Some(SimTime(1200)),
        ..FlowSpec::trace("t", TraceSpec::new(path))
    };
    let mut flow = Flow::new(&spec, ROOMY, &Streams::new(1), 0).unwrap();
    assert_eq!(flow.pacing(), Pacing::Open);
    let times: Vec<u64> = drain(&mut flow).iter().map(|(at, _)| at.as_ns()).collect();
    assert_eq!(times, [1000, 1100]);
}

/// Clamping lifts late rows, closed pacing ignores times.
#[test]
fn late_rows_are_clamped_or_ignored() {
    let text = "100 0 1 8 1\n300 0 2 8 1\n50 0 3 8 1\n250 0 4 8 1\n400 0 5 8 1\n";
    let path = file("late.mqsim", text.as_bytes());
    let clamp = TraceSpec { reorder: Reorder::Clamp, ..TraceSpec::new(&path) };
    let mut flow = open(clamp, ROOMY).unwrap();
    let seen: Vec<_> = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.sector)).collect();
    assert_eq!(seen, [(0, 1), (200, 2), (200, 3), (200, 4), (300, 5)]);
    assert_eq!(flow.trace_summary().unwrap().late_rows, 2);

    let closed = TraceSpec { pacing: TracePacing::Closed { depth: 4 }, ..TraceSpec::new(&path) };
    let mut flow = open(closed, ROOMY).unwrap();
    assert_eq!(flow.pacing(), Pacing::Closed { depth: 4 });
    let seen: Vec<_> = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.sector)).collect();
    assert_eq!(seen, [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
}

#[test]
fn bad_rows_are_skipped_and_the_first_ten_reported() {
    let mut text = String::from("7 0 8 8 1\n");
    for i in 0..12 {
        text += &format!("{} 0 x{i} 8 1\n", 8 + i);
    }
    text += &"z".repeat(200_000);
    text += "\n3 0 16 8 1\n30 0 24 8 0\n";
    let spec = TraceSpec { skip_bad_rows: true, ..TraceSpec::new(file("bad.mqsim", text.as_bytes())) };
    let mut flow = open(spec, ROOMY).unwrap();
    let seen: Vec<_> = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.sector)).collect();
    assert_eq!(seen, [(0, 8), (23, 24)]);
    let summary = flow.trace_summary().unwrap();
    assert_eq!((summary.rows, summary.bad_rows, summary.first_bad_rows.len()), (2, 14, 10));
    assert_eq!(
        summary.first_bad_rows[9],
        "line 11: `lba` is `x9`, which is not a number; legal: 512-byte sectors, a whole number below 2^44 (8 PiB)"
    );
}

/// Longer than every buffer involved, so that rows cross their boundaries.
#[test]
fn long_traces_stream_through() {
    let recipe = TraceRecipe { rows: 20_000, devices: 5, ..Default::default() };
    let bytes = trace_bytes(&recipe, Format::Msr, Packing::Zstd).unwrap();
    let mut flow = open(TraceSpec::new(file("long.csv.zst", &bytes)), ROOMY).unwrap();
    let base: Vec<u64> = flow.trace_summary().unwrap().devices.iter().map(|d| d.placed_at).collect();
    assert_eq!(base.len(), 5);
    for expected in recipe.requests() {
        let (at, request) = flow.next().unwrap().unwrap();
        let placed =
            Request { sector: base[expected.device as usize] + expected.request.sector, ..expected.request };
        assert_eq!((at, request), (expected.at, placed));
    }
    assert_eq!(flow.next().unwrap(), None);
}
