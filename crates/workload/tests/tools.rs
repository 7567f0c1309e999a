//! Trace tools: what conversion, cuts, scaling, merging and anonymisation keep and change.

use crate::common::file;
use interpulse_engine::{Bytes, Duration, Op, SimTime};
use interpulse_workload::generate::{Recorded, TraceRecipe, trace_bytes, write_trace};
use interpulse_workload::{
    Cut, Fit, Format, MergeDevices, MergeTimes, Pace, Packing, Rewrite, Rewriting, Rewritten, Scramble,
    TimeUnit, TraceSpec, rewrite,
};
use std::collections::HashMap;
use std::path::Path;

fn plain(paths: &[&Path], format: &str) -> Rewrite {
    Rewrite {
        inputs: paths.iter().map(TraceSpec::new).collect(),
        times: MergeTimes::Recorded,
        devices: MergeDevices::Keep,
        cut: Cut::default(),
        pace: None,
        footprint: None,
        scramble: None,
        format: Some(Format::named(format).unwrap()),
    }
}

fn run(plan: &Rewrite) -> Result<(Vec<u8>, Rewritten), String> {
    let mut out = Vec::new();
    let written = rewrite(plan, &mut out, &mut |_| true).map_err(|error| error.to_string())?;
    Ok((out, written.expect("nothing stops it")))
}

/// Rows of a rewrite as `mqsim`: time in ns, device, sector, sectors, type.
fn rows(plan: &Rewrite) -> Vec<[u64; 5]> {
    let (out, _) = run(plan).unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u64>>();
    String::from_utf8(out).unwrap().lines().map(|line| numbers(line).try_into().unwrap()).collect()
}

fn small(name: &str, text: &str) -> std::path::PathBuf {
    file(&format!("tools-{name}.mqsim"), text.as_bytes())
}

/// From every format into every other one the requests are the same, and into the same format the file is.
#[test]
fn every_pair_of_formats_is_exact() {
    let recipe = TraceRecipe { rows: 60, ..Default::default() };
    let usable = |format: &Format| {
        let free = matches!(format, Format::Ascii(_) | Format::Columns(_) | Format::OracleGeneral(_));
        format.has_times() && !free
    };
    let formats: Vec<Format> = Format::readers().filter(usable).collect();
    for from in &formats {
        let name = from.name();
        let original = trace_bytes(&recipe, from.clone(), Packing::Plain).unwrap();
        let path = file(&format!("tools-pair-{name}.{name}"), &original);
        for to in &formats {
            let mut there = plain(&[&path], to.name());
            there.inputs[0].format = from.clone();
            let (bytes, written) = run(&there).unwrap();
            assert_eq!((written.rows_read, written.rows_written), (60, 60));
            let middle = file(&format!("tools-pair-{name}-{}", to.name()), &bytes);
            let read = |path: &Path, format: &Format| {
                let mut plan = plain(&[path], "mqsim");
                plan.inputs[0].format = format.clone();
                rows(&plan)
            };
            assert_eq!(read(&middle, to), read(&path, from), "{name} to {}", to.name());
            assert!(
                written.notes.iter().all(|note| note.contains("names of devices")),
                "{:?}",
                written.notes
            );
            if from == to {
                let heading = if name == "fio" { bytes.len() - original.len() } else { 0 };
                // The host that a format has for any device is a name to keep.
                assert!(bytes[heading..] == original, "{name}");
            }
        }
    }
}

#[test]
fn hosts_and_file_names_are_kept_where_a_format_holds_them() {
    let text = "100,web,0,Read,0,512,0\n300,web,1,Write,512,512,0\n";
    let path = file("tools-hosts.msr", text.as_bytes());
    let (out, written) = run(&plain(&[&path], "msr")).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.lines().next().unwrap().contains(",web,0,Read,0,512,"), "{out}");
    assert_eq!((written.devices, written.notes.len()), (2, 0));
    let (out, _) = run(&plain(&[&path], "fio")).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "fio version 3 iolog\n0 web add\n0 web_1 add\n0 web open\n0 web_1 open\n0 web read 0 512\n20 web_1 write 512 512\n"
    );
}

#[test]
fn what_a_format_cannot_hold_is_refused_or_counted() {
    let recipe = TraceRecipe { rows: 40, discard_percent: 20, flush_percent: 10, ..Default::default() };
    let bytes = trace_bytes(&recipe, Format::Fio, Packing::Plain).unwrap();
    let path = file("tools-lossy.fio", &bytes);
    let error = run(&plain(&[&path], "msr")).unwrap_err();
    assert!(error.contains("the format msr cannot hold") && error.contains("skip"), "{error}");
    let two = small("two", "1000 0 0 8 1\n2500 1 8 8 0\n");
    let error = run(&plain(&[&two], "vscsi")).unwrap_err();
    assert!(
        error.contains("line 2: the format vscsi cannot hold devices, of which the trace has 2"),
        "{error}"
    );
    let (_, written) = run(&plain(&[&two], "alibaba")).unwrap();
    assert_eq!(written.notes, ["1 time(s) rounded down to the resolution of the format alibaba"]);
    let (_, written) = run(&plain(&[&two], "fio-v2")).unwrap();
    assert_eq!(written.notes, ["the format fio-v2 has no times: those of the trace are lost"]);
    let untimed =
        file("tools-untimed.fio-v2", b"fio version 2 iolog\n/dev/a read 0 4096\n/dev/a write 4096 4096\n");
    let error = run(&plain(&[&untimed], "mqsim")).unwrap_err();
    assert!(error.contains("has no times, which the format mqsim needs"), "{error}");
    let even = Rewrite { pace: Some(Pace::Iops(1000.0)), ..plain(&[&untimed], "mqsim") };
    assert_eq!(rows(&even), [[0, 0, 0, 8, 1], [1_000_000, 0, 8, 8, 0]]);
}

#[test]
fn durable_writes_become_a_write_and_a_flush() {
    let text = "8,0 0 1 0.000000001 1 Q WFS 8 + 8 [a]\n8,0 0 2 0.000000005 1 Q FWS 16 + 8 [a]\n";
    let path = file("tools-durable.blkparse", text.as_bytes());
    let (out, written) = run(&plain(&[&path], "fio")).unwrap();
    let actions: Vec<String> = String::from_utf8(out)
        .unwrap()
        .lines()
        .skip(3)
        .map(|l| l.split(' ').nth(2).unwrap().into())
        .collect();
    assert_eq!(actions, ["write", "sync", "sync", "write"]);
    assert!(
        written.notes.iter().any(|note| note.starts_with("2 flush(es) of writes")),
        "{:?}",
        written.notes
    );
}

const FIVE: &str = "100 0 0 8 1\n200 1 8 8 0\n300 0 16 8 1\n400 2 24 8 0\n500 0 32 8 1\n";

#[test]
fn cuts_keep_a_range_and_devices() {
    let path = small("five", FIVE);
    let cut = |cut: Cut| rows(&Rewrite { cut, ..plain(&[&path], "mqsim") });
    let from = Some(Duration(100));
    let by_time = cut(Cut { from, to: Some(Duration(300)), ..Cut::default() });
    assert_eq!(by_time, [[0, 1, 8, 8, 0], [100, 0, 16, 8, 1]]);
    let by_row = cut(Cut { first_row: Some(2), last_row: Some(3), ..Cut::default() });
    assert_eq!(by_row, by_time);
    let devices = vec!["0".to_owned(), "2".to_owned()];
    let by_device = cut(Cut { devices, ..Cut::default() });
    assert_eq!(
        by_device.iter().map(|row| (row[0], row[1])).collect::<Vec<_>>(),
        [(0, 0), (200, 0), (300, 2), (400, 0)]
    );
    for (wrong, why) in [
        (
            Cut { devices: vec!["9".into()], ..Cut::default() },
            "--device: seen \"9\"; expected one of 0; 1; 2",
        ),
        (Cut { first_row: Some(6), ..Cut::default() }, "the cut keeps no row; the trace has rows 1 to 5"),
        (Cut { from, to: from, ..Cut::default() }, "--end: seen"),
    ] {
        let error = run(&Rewrite { cut: wrong, ..plain(&[&path], "mqsim") }).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn rates_are_scaled_by_a_factor_or_to_a_mean() {
    let path = small("rates", FIVE);
    let times =
        |pace| rows(&Rewrite { pace: Some(pace), ..plain(&[&path], "mqsim") }).iter().map(|r| r[0]).collect();
    let twice: Vec<u64> = times(Pace::Speed(2.0));
    assert_eq!(twice, [0, 50, 100, 150, 200]);
    // Four gaps at 1,000 per second.
    let slow: Vec<u64> = times(Pace::Iops(1000.0));
    assert_eq!(slow, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]);
    let at_once = small("at-once", "5 0 0 8 1\n5 0 8 8 1\n");
    let error = run(&Rewrite { pace: Some(Pace::Iops(1.0)), ..plain(&[&at_once], "mqsim") }).unwrap_err();
    assert!(error.starts_with("--iops: the 2 row(s) of the trace have a single time"), "{error}");
}

#[test]
fn footprints_are_folded_or_mapped_linearly() {
    let path = small("foot", "1 0 1000 8 1\n2 0 3000 8 1\n3 0 3010 8 1\n4 0 4992 8 1\n");
    let sectors = |capacity, fit| {
        let plan = Rewrite { footprint: Some((capacity, fit)), ..plain(&[&path], "mqsim") };
        rows(&plan).iter().map(|row| row[2]).collect::<Vec<_>>()
    };
    assert_eq!(sectors(2000, Fit::Scale), [0, 1000, 1000, 1992]);
    assert_eq!(sectors(2000, Fit::Fold), [1000, 1000, 1010, 992]);
    let plan = Rewrite { footprint: Some((4, Fit::Fold)), ..plain(&[&path], "mqsim") };
    let error = run(&plan).unwrap_err();
    assert!(error.contains("expected at least 4096 bytes, the largest request"), "{error}");
}

/// The files of two CPUs, by recorded times; rows at equal times in the order of the files.
#[test]
fn merged_traces_are_in_order_of_time_and_stable() {
    let (a, b) = (
        small("cpu0", "100 0 0 8 1\n300 0 8 8 1\n300 0 9 8 1\n"),
        small("cpu1", "50 0 16 8 0\n300 1 24 8 0\n"),
    );
    let merged = |devices, times| rows(&Rewrite { devices, times, ..plain(&[&a, &b], "mqsim") });
    assert_eq!(
        merged(MergeDevices::Keep, MergeTimes::Recorded),
        [[0, 0, 16, 8, 0], [50, 0, 0, 8, 1], [250, 0, 8, 8, 1], [250, 0, 9, 8, 1], [250, 1, 24, 8, 0]]
    );
    let from_start = merged(MergeDevices::Separate, MergeTimes::Start);
    assert_eq!(
        from_start.iter().map(|r| (r[0], r[1])).collect::<Vec<_>>(),
        [(0, 0), (0, 1), (200, 0), (200, 0), (250, 2)]
    );
    let side_by_side = merged(MergeDevices::Concatenate, MergeTimes::Recorded);
    // Regions of 1 MiB: the device of the first file, and the two of the second.
    assert_eq!(
        side_by_side.iter().map(|r| (r[1], r[2])).collect::<Vec<_>>(),
        [(0, 2064), (0, 0), (0, 8), (0, 9), (0, 4120)]
    );
}

#[test]
fn anonymised_addresses_are_a_permutation_by_the_key() {
    let recipe = TraceRecipe { rows: 3000, devices: 2, ..Default::default() };
    let path = file("tools-secret.mqsim", &trace_bytes(&recipe, Format::MqSim, Packing::Plain).unwrap());
    let with = |key: &str| {
        let scramble = Some(Scramble { key: key.into(), extent: Bytes(1 << 20), capacity: None });
        rows(&Rewrite { scramble, ..plain(&[&path], "mqsim") })
    };
    let (before, after) = (rows(&plain(&[&path], "mqsim")), with("secret"));
    assert_eq!(after, with("secret"));
    let same = |other: &[[u64; 5]]| before.iter().zip(other).filter(|(a, b)| a[2] == b[2]).count();
    // 64 extents of each device: a sixty-fourth stays by chance.
    assert!(same(&after) < 300, "{}", same(&after));
    assert_ne!(after, with("another"));
    let mut images = HashMap::new();
    for (a, b) in before.iter().zip(&after) {
        assert_eq!((a[0], a[3], a[4], a[2] % 2048), (b[0], b[3], b[4], b[2] % 2048));
        assert_eq!(*images.entry((a[1], a[2] / 2048)).or_insert((b[1], b[2] / 2048)), (b[1], b[2] / 2048));
    }
    let distinct: std::collections::HashSet<_> = images.values().collect();
    assert_eq!(distinct.len(), images.len());
}

/// Of two files that end at different addresses and name their devices in another order.
#[test]
fn a_key_and_a_capacity_give_several_files_the_same_addresses() {
    let files = [
        "100,a,0,Read,0,512,0\n200,b,0,Read,8388608,512,0\n",
        "100,b,0,Read,8388608,512,0\n200,a,0,Read,0,512,0\n300,a,0,Read,60000000,512,0\n",
    ];
    let addresses = |index: usize, capacity: u64| {
        let path = file(&format!("tools-same-{index}.msr"), files[index].as_bytes());
        let capacity = Some(Bytes(capacity));
        let scramble = Some(Scramble { key: "secret".into(), extent: Bytes(1 << 12), capacity });
        let plan = Rewrite { scramble, ..plain(&[&path], "mqsim") };
        run(&plan).map(|_| rows(&plan).iter().map(|row| row[2]).collect::<Vec<_>>())
    };
    let (first, second) = (addresses(0, 1 << 30).unwrap(), addresses(1, 1 << 30).unwrap());
    assert_eq!([first[0], first[1]], [second[1], second[0]]);
    assert_ne!(first, addresses(0, 1 << 29).unwrap());
    let error = addresses(1, 1 << 24).unwrap_err();
    assert!(
        error.contains("--device-capacity: seen 16MiB; expected at least 60000768B, where device a ends"),
        "{error}"
    );
}

/// Notification records with their own bytes after them, other events, and both byte orders.
#[test]
fn binary_files_of_blktrace_are_read() {
    let record = |big: bool, time: u64, sector: u64, bytes: u32, action: u32, tail: &[u8]| {
        let mut fields: Vec<Vec<u8>> = vec![
            0x6561_7407u32.to_le_bytes().into(),
            7u32.to_le_bytes().into(),
            time.to_le_bytes().into(),
            sector.to_le_bytes().into(),
            bytes.to_le_bytes().into(),
            action.to_le_bytes().into(),
            99u32.to_le_bytes().into(),
            (259u32 << 20 | 3).to_le_bytes().into(),
            0u32.to_le_bytes().into(),
            0u16.to_le_bytes().into(),
            (tail.len() as u16).to_le_bytes().into(),
        ];
        if big {
            fields.iter_mut().for_each(|field| field.reverse());
        }
        [fields.concat(), tail.to_vec()].concat()
    };
    let (notify, queue) = (1 << 26, 1 | 1 << 20);
    let (read, write, flush, discard, fua) = (1 << 16, 1 << 17, 1 << 18, 1 << 29, 1 << 31);
    for big in [false, true] {
        let row = |time, sector, bytes, action| record(big, time, sector, bytes, action, b"");
        let bytes = [
            record(big, 0, 0, 0, notify, b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            row(5, 8, 4096, queue | read),
            row(6, 8, 4096, 7 | 1 << 22 | read),
            row(7, 16, 512, queue | write | fua),
            record(big, 8, 24, 4096, queue | write | discard | 1 << 8, &[1; 8]),
            row(9, 0, 0, queue | write | flush),
        ]
        .concat();
        let path = file(&format!("tools-{big}.blktrace.0"), &bytes);
        let (out, written) = run(&plain(&[&path], "blkparse")).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(written.read_as, ["blktrace"]);
        let seen: Vec<&str> = text.lines().map(|line| line.split(" Q ").nth(1).unwrap()).collect();
        assert_eq!(seen, ["R 8 + 8 [gen]", "W 16 + 1 [gen]", "FN [gen]", "D 24 + 8 [gen]", "FN [gen]"]);
        assert!(text.starts_with("  259,3 0 1 0.000000000"), "{text}");
        let cut = file(&format!("tools-cut-{big}.blktrace.0"), &bytes[..55]);
        let error = run(&plain(&[&cut], "blkparse")).unwrap_err();
        assert!(error.ends_with("record 1: has 7 bytes, then the file ends; legal: 16 bytes"), "{error}");
    }
}

/// Stops in both passes; what was written until then does not count.
#[test]
fn a_rewrite_can_be_stopped() {
    let recipe = TraceRecipe { rows: 40_000, ..Default::default() };
    let path = file("tools-stop.mqsim", &trace_bytes(&recipe, Format::MqSim, Packing::Plain).unwrap());
    // Rows of both passes: those checked, and then those read again.
    let mut seen = Vec::new();
    rewrite(&plain(&[&path], "mqsim"), &mut Vec::new(), &mut |progress| {
        seen.push(progress);
        true
    })
    .unwrap();
    let all = recipe.rows;
    assert!(seen.contains(&Rewriting::Writing(16_384, all)), "{seen:?}");
    let checked = seen.iter().filter_map(|each| match each {
        Rewriting::Checking(rows) => Some(*rows),
        Rewriting::Writing(..) => None,
    });
    assert!(checked.max().is_some_and(|rows| rows <= all), "{seen:?}");
    for stop in 0..seen.len() {
        let mut calls = 0;
        let written = rewrite(&plain(&[&path], "mqsim"), &mut Vec::new(), &mut |_| {
            calls += 1;
            calls <= stop
        });
        assert!(written.unwrap().is_none());
        assert_eq!(calls, stop + 1);
    }
}

/// The column format is written with a heading that says its columns and units.
#[test]
fn columns_are_written_with_their_heading() {
    let rows =
        [Recorded { at: SimTime(0), device: 3, request: interpulse_engine::Request::new(Op::Read, 8, 8) }];
    let mut bytes = Vec::new();
    write_trace(&mut bytes, Format::MqSim, rows).unwrap();
    let path = file("tools-columns.mqsim", &bytes);
    let to = Format::readers().find(|format| format.name() == "columns");
    let (out, _) = run(&Rewrite { format: to, ..plain(&[&path], "mqsim") }).unwrap();
    assert_eq!(
        String::from_utf8(out.clone()).unwrap(),
        "time_us,op,offset_bytes,size_bytes,device\n0.000,R,4096,4096,3\n"
    );
    let again = file("tools-columns.csv", &out);
    let spec = TraceSpec { time_unit: Some(TimeUnit::Us), ..TraceSpec::new(&again) };
    assert_eq!(self::rows(&Rewrite { inputs: vec![spec], ..plain(&[&again], "mqsim") }), [[0, 3, 8, 8, 1]]);
}
