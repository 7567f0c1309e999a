//! Error message tests: value found, position and legal values.

use crate::common::{ROOMY, drain, file, open, trace_message};
use interpulse_engine::{Bytes, SimTime, Streams};
use interpulse_workload::generate::{TraceRecipe, pack, trace_bytes, write_trace};
use interpulse_workload::{
    AddressSpec, Arrivals, AsciiLayout, BlockSize, FirstReading, Fit, Flow, FlowSpec, Format, HotCold,
    HyperExponential, Packing, SyntheticPacing, SyntheticSpec, TimeUnit, TracePacing, TraceSpec, TypeCode,
    Zipf,
};
use std::path::Path;

/// Message for these bytes in a file with this name, at recorded times.
fn message(name: &str, bytes: impl AsRef<[u8]>) -> String {
    trace_message(TraceSpec::new(file(name, bytes.as_ref())), ROOMY)
}

fn assert_messages(prefix: &str, cases: &[(&str, &str)]) {
    for (i, (text, expected)) in cases.iter().enumerate() {
        // The number distinguishes the files of one test; the extension selects the format.
        assert_eq!(message(&format!("{i}_{prefix}"), text), *expected, "{text:?}");
    }
}

#[test]
fn bad_msr_rows() {
    assert_messages(
        "rows.msr",
        &[
            (
                "1,h,0,Read,0,512\n",
                "line 1: has 6 columns; legal: 7 columns between commas: time,host,disk,Type,offset,size,response",
            ),
            (
                "1 h 0 Read 0 512\n",
                "line 1: has 1 column; legal: 7 columns between commas: time,host,disk,Type,offset,size,response",
            ),
            (
                "# c\n1,h,0,Read,0,512,0\nnoon,h,0,Read,0,512,0\n",
                "line 3: `time` is `noon`, which is not a number; legal: 100 ns ticks since 1601, a whole number \
                 below 2^64 / 100",
            ),
            (
                "184467440737095517,h,0,Read,0,512,0\n",
                "line 1: `time` is `184467440737095517`, which is too large; legal: 100 ns ticks since 1601, a \
                 whole number below 2^64 / 100",
            ),
            (
                "1,h,-3,Read,0,512,0\n",
                "line 1: `disk` is `-3`, which is negative; legal: a whole number, 0 to 4294967295",
            ),
            (
                "1,h,0,Trim,0,512,0\n",
                "line 1: `Type` is `Trim`, which is not an operation; legal: Read or Write",
            ),
            (
                "1,h,0,Read,9007199254740992,512,0\n",
                "line 1: `offset` is `9007199254740992`, which is too large; legal: bytes, a whole number below \
                 2^53 (8 PiB)",
            ),
            (
                "1,h,0,Read,0,0,0\n",
                "line 1: `size` is `0`, which is too small; legal: bytes, a whole number, 1 to 1073741312 (1 GiB \
                 less a sector)",
            ),
            (
                "1,h,0,Read,0,512,\n",
                "line 1: `response` is ``, which is not a number; legal: 100 ns ticks, a whole number",
            ),
            (
                "1,h,0,Read,0,512,0\nTimestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
                "line 2: `time` is `Timestamp`, which is not a number; legal: 100 ns ticks since 1601, a whole \
                 number below 2^64 / 100",
            ),
        ],
    );
}

#[test]
fn bad_spc_rows() {
    assert_messages(
        "rows.spc",
        &[
            (
                "0,1,512,r\n",
                "line 1: has 4 columns; legal: at least 5 columns between commas: ASU,LBA,size,opcode,time",
            ),
            (
                "x,1,512,r,0\n",
                "line 1: `ASU` is `x`, which is not a number; legal: a whole number, 0 to 4294967295",
            ),
            // Longest number of the fast parser, with the smallest characters that are not digits.
            (
                "..................,1,512,r,0\n",
                "line 1: `ASU` is `..................`, which is not a number; legal: a whole number, 0 to 4294967295",
            ),
            (
                "0,17592186044416,512,r,0\n",
                "line 1: `LBA` is `17592186044416`, which is too large; legal: 512-byte sectors, a whole number \
                 below 2^44 (8 PiB)",
            ),
            ("0,1,512,q,0\n", "line 1: `opcode` is `q`, which is not an operation; legal: r or w"),
            (
                "0,1,512,r,-0.5\n",
                "line 1: `time` is `-0.5`, which is negative; legal: seconds, 0 or more, decimals allowed",
            ),
            (
                "0,1,512,r,1.5x3\n",
                "line 1: `time` is `1.5x3`, which is not a number; legal: seconds, 0 or more, decimals allowed",
            ),
            (
                "0,1,512,r,99999999999\n",
                "line 1: `time` is `99999999999`, which is too large; legal: seconds, 0 or more, decimals allowed",
            ),
            (
                "0,1,512,r,0\n0,1,512,r,20000000\n",
                "line 2: `time since the first row` is `20000000s`, which is too long; legal: at most 208 days \
                 after the first row, at replay speed",
            ),
            (
                "0,1,512,r,0.5\n0,1,512,r,0.499997\n",
                "line 2: `time` goes back by 3us; legal: ascending times, or --set flow.0.reorder=clamp, or closed pacing",
            ),
        ],
    );
}

#[test]
fn bad_ascii_rows() {
    assert_messages(
        "rows.mqsim",
        &[
            (
                "1 0 8 8\n",
                "line 1: has 4 columns; legal: 5 columns between blanks: time device lba sectors type",
            ),
            (
                "0 0 8 8 1\n0.5 0 8 8 1\n",
                "line 2: `time` is `0.5`, which is not a whole number; legal: ns, a whole number (for decimals, \
                 name a format in us or ms)",
            ),
            (
                "1 0 8 2097153 1\n",
                "line 1: `sectors` is `2097153`, which is too large; legal: 512-byte sectors, a whole number, 1 to \
                 2097152 (1 GiB)",
            ),
            (
                "1 0 8 0 1\n",
                "line 1: `sectors` is `0`, which is too small; legal: 512-byte sectors, a whole number, 1 to \
                 2097152 (1 GiB)",
            ),
            ("1 0 8 8 2\n", "line 1: `type` is `2`, which is not an operation; legal: 0 (write) or 1 (read)"),
            (
                "1 0 123456789012345678901234567890123456789012345 8 1\n",
                "line 1: `lba` is `1234567890123456789012345678901234567890...`, which is too large; legal: \
                 512-byte sectors, a whole number below 2^44 (8 PiB)",
            ),
        ],
    );
    for (time, row, expected) in [
        (
            TimeUnit::Us,
            "0 0 0 8 r",
            "line 1: `type` is `r`, which is not an operation; legal: 0 (read) or 1 (write)",
        ),
        (
            TimeUnit::Us,
            "1. 0 0 8 1",
            "line 1: `time` is `1.`, which is not a number; legal: us, 0 or more, decimals allowed",
        ),
        (
            TimeUnit::Ms,
            "1.2.3 0 0 8 1",
            "line 1: `time` is `1.2.3`, which is not a number; legal: ms, 0 or more, decimals allowed",
        ),
    ] {
        let format = Format::Ascii(AsciiLayout { types: TypeCode::OneWrites });
        let path = file("layout.txt", row.as_bytes());
        let spec = TraceSpec { format, time_unit: Some(time), ..TraceSpec::new(path) };
        assert_eq!(trace_message(spec, ROOMY), expected);
    }
}

#[test]
fn lines_that_are_not_text() {
    assert_eq!(
        message("utf8.mqsim", b"1 0 8 8 1\n2 0 \xff 8 1\n"),
        "line 2: byte 5 of the line (0xff) is not UTF-8 text"
    );
    assert_eq!(
        message("long.mqsim", vec![b'1'; 5000]),
        "line 1: is longer than 4096 bytes; is this a text file?"
    );
    assert_eq!(message("binary", [0u8; 5000]), "line 1: is longer than 4096 bytes; is this a text file?");
}

#[test]
fn formats_that_cannot_be_detected() {
    let message = message("unknown.csv", "\nhello,\tworld\n");
    let (said, names) = message.split_once("NAME: ").unwrap();
    assert_eq!(
        said,
        "line 2: `hello,\\tworld` matches no known format; specify its format with --set flow.0.format="
    );
    let known: Vec<_> = Format::readers().map(|format| format.name()).collect();
    assert_eq!(names, known.join(", "));
}

#[test]
fn a_format_that_is_named_for_rows_of_another() {
    let spec = TraceSpec { format: Format::Msr, ..TraceSpec::new(file("unlike.txt", b"0.5 0 8 8 1\n")) };
    assert_eq!(
        trace_message(spec, ROOMY),
        "line 1: has 1 column; legal: 7 columns between commas: time,host,disk,Type,offset,size,response; its rows look \
         like mqsim or ssdsim or disksim-ascii or ascii, which --set flow.0.format=auto reads"
    );
}

#[test]
fn files_that_are_not_traces() {
    for (name, bytes, expected) in [
        (
            "t.csv.bz2",
            &b"BZh91AY&SY"[..],
            "is bzip2 data; unpack it with `bunzip2`, or repack it as .gz or .zst",
        ),
        ("t.zip", b"PK\x03\x04\x14\0", "is a zip archive; unzip it and specify the extracted file"),
        (
            "sda.blktrace.0",
            b"\x08tae\0\0\0\0",
            "is a binary trace of blktrace, version 8; convert it to text: `blkparse -i FILE > FILE.txt`",
        ),
        ("t.mqsim", b"PAR1\x15\x04", "is a Parquet table; export its rows as text, one request per row"),
    ] {
        assert_eq!(message(name, bytes), expected);
        for packing in [Packing::Gzip, Packing::Zstd] {
            assert_eq!(message(&format!("{packing}_{name}"), pack(bytes, packing).unwrap()), expected);
        }
        let named = TraceSpec { format: Format::Msr, ..TraceSpec::new(file(name, bytes)) };
        assert_eq!(trace_message(named, ROOMY), expected);
    }
    let twice = pack(&pack(b"1 0 8 8 1\n", Packing::Gzip).unwrap(), Packing::Zstd).unwrap();
    assert_eq!(message("twice.gz.zst", twice), "is gzip data inside the packed file; compress it only once");
}

#[test]
fn records_that_cannot_be_read() {
    let recipe = TraceRecipe { rows: 3, ..Default::default() };
    let good = trace_bytes(&recipe, Format::Vscsi, Packing::Plain).unwrap();
    let damaged = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        message("damaged.vscsi", &bytes)
    };
    assert_eq!(
        message("cut.vscsi", &good[..80]),
        "record 3: has 16 bytes, then the file ends; legal: 32 bytes"
    );
    let spec =
        |bytes: &[u8]| TraceSpec { format: Format::Vscsi, ..TraceSpec::new(file("named.vscsi", bytes)) };
    assert_eq!(
        trace_message(spec(b"1 0 8 8 1\n"), ROOMY),
        "record 1: has 10 bytes, then the file ends; legal: 32 bytes"
    );
    assert_eq!(
        damaged(32 + 15, 7),
        "record 2: `version` is `1792`, which is another version; legal: 256 to 511, version 1"
    );
    let mut empty = good.clone();
    empty[36..40].fill(0);
    assert_eq!(
        trace_message(spec(&empty), ROOMY),
        "record 2: `length` is `0`, which is too small; legal: bytes, a whole number, 1 to 1073741312 (1 GiB less a sector)"
    );
}

#[test]
fn files_that_cannot_be_read() {
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no/such/trace");
    assert_eq!(trace_message(TraceSpec::new(missing), ROOMY), "does not exist");
    let folder = TraceSpec::new(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(
        trace_message(folder, ROOMY),
        "is not a regular file; a trace is read twice, so a pipe cannot be one"
    );
    let below_a_file = file("plain.mqsim", b"").join("x");
    assert_eq!(
        trace_message(TraceSpec::new(below_a_file), ROOMY),
        "cannot be opened: Not a directory (os error 20)"
    );
    assert_eq!(message("empty.mqsim", ""), "holds no rows");
    assert_eq!(message("empty", ""), "holds no rows");
    assert_eq!(message("comments.csv", "# nothing\n\n"), "holds no rows");
    let skipping = TraceSpec { skip_bad_rows: true, ..TraceSpec::new(file("all_bad.mqsim", b"1\n2\n")) };
    assert_eq!(
        trace_message(skipping, ROOMY),
        "holds no good row; 2 bad ones were skipped, the first: line 1: has 1 column; legal: 5 columns between \
         blanks: time device lba sectors type"
    );
}

#[test]
fn packed_files_that_end_early_or_are_damaged() {
    let recipe = TraceRecipe { rows: 5000, ..Default::default() };
    for packing in [Packing::Gzip, Packing::Zstd] {
        let cut = |line| {
            format!(
                "the {packing} data is truncated: it ends after line {line} in the middle of the packed stream"
            )
        };
        // A complete member or frame, then one truncated in its header, content or checksum.
        let whole = trace_bytes(&recipe, Format::MqSim, packing).unwrap();
        let second = pack(b"999999999 0 8 8 1", packing).unwrap();
        for keep in [3, 6, second.len() - 1] {
            let bytes = [whole.as_slice(), &second[..keep]].concat();
            assert_eq!(message(&format!("cut_{keep}_{packing}.mqsim"), &bytes), cut(5000));
        }
        assert_eq!(message(&format!("start_{packing}.mqsim"), &whole[..5]), cut(0));
    }
    let mut gzip = pack(b"1 0 8 8 1\n", Packing::Gzip).unwrap();
    let checksum = gzip.len() - 8;
    gzip[checksum] ^= 1;
    assert_eq!(
        message("sum.mqsim.gz", &gzip),
        "the gzip data is damaged after line 1: corrupt gzip stream does not have a matching checksum"
    );
    assert_eq!(
        message(
            "noise.mqsim.zst",
            b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
        ),
        "the zstd data is damaged after line 0: Unsupported frame parameter"
    );
}

#[test]
fn traces_beyond_the_drive() {
    let text = b"0 3 0 8 1\n1 1 5000 8 1\n2 3 900 16 0\n3 3 10 8 0\n";
    let spec = TraceSpec::new(file("beyond.mqsim", text));
    assert_eq!(
        trace_message(spec.clone(), 7059),
        "line 3: device 3 (placed at sector 6144) reaches sector 7060, but the drive has 7059 sectors; legal: a \
         larger drive, or fit = fold or scale"
    );
    assert!(open(spec.clone(), 7060).is_ok());
    let alone = TraceSpec::new(file("alone.msr", b"1,web,2,Read,512000,4096,0\n"));
    assert_eq!(
        trace_message(alone, 1000),
        "line 1: device web_2 reaches sector 1008, but the drive has 1000 sectors; legal: a larger drive, or fit \
         = fold or scale"
    );
    assert_eq!(
        trace_message(TraceSpec { fit: Fit::Fold, ..spec }, 15),
        "line 3: the request has 16 sectors, but the whole drive has 15"
    );
}

/// A file that changes between the passes is reported instead of replayed wrongly.
#[test]
fn a_trace_that_changes_under_the_replay() {
    let rows = |n: u64| TraceRecipe { rows: n, ..Default::default() };
    for (n, last) in [(900, 900), (1100, 1024)] {
        let path = file("changing.mqsim", &trace_bytes(&rows(1000), Format::MqSim, Packing::Plain).unwrap());
        let mut flow = open(TraceSpec::new(&path), ROOMY).unwrap();
        std::fs::write(&path, trace_bytes(&rows(n), Format::MqSim, Packing::Plain).unwrap()).unwrap();
        let error = loop {
            match flow.next() {
                Ok(next) => assert!(next.is_some(), "the change is not noticed"),
                Err(error) => break error.to_string(),
            }
        };
        let expected = format!("trace {}: changed while it was replayed", path.display());
        assert_eq!(error, format!("{expected} (detected after line {last})"));
    }
}

/// A first pass is reused for the same file with the same settings, but not after the file has changed.
#[test]
fn a_trace_that_has_been_read_through_is_not_again_unless_it_has_changed() {
    let recipe = |rows: u64| TraceRecipe { rows, ..Default::default() };
    let bytes = |rows| trace_bytes(&recipe(rows), Format::MqSim, Packing::Plain).unwrap();
    let path = file("known.mqsim", &bytes(1000));
    let known = |spec: TraceSpec, first: &FirstReading| {
        let spec = FlowSpec::trace("trace", spec);
        let mut flow = Flow::with_reading(&spec, ROOMY, &Streams::new(1), 0, Some(first)).unwrap();
        let rows = drain(&mut flow);
        let summary = flow.trace_summary().unwrap().clone();
        (rows, summary)
    };
    let mut flow = open(TraceSpec::new(&path), ROOMY).unwrap();
    let first = flow.first_reading().unwrap().clone();
    let (rows, summary) = known(TraceSpec::new(&path), &first);
    assert_eq!((rows, &summary), (drain(&mut flow), flow.trace_summary().unwrap()));
    // No rows but the same length: only the first pass holds the previous content.
    let text = String::from_utf8(bytes(1000)).unwrap();
    let stamp = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "#".repeat(text.len())).unwrap();
    let same = std::fs::File::options().write(true).open(&path).unwrap();
    same.set_modified(stamp).unwrap();
    let spec = FlowSpec::trace("trace", TraceSpec::new(&path));
    let mut fooled = Flow::with_reading(&spec, ROOMY, &Streams::new(1), 0, Some(&first)).unwrap();
    fooled.next().unwrap_err();
    // A file with another time, another length or other settings is scanned again.
    same.set_modified(stamp + std::time::Duration::from_secs(1)).unwrap();
    assert!(Flow::with_reading(&spec, ROOMY, &Streams::new(1), 0, Some(&first)).is_err());
    std::fs::write(&path, bytes(900)).unwrap();
    same.set_modified(stamp).unwrap();
    assert_eq!(known(TraceSpec::new(&path), &first).1.rows, 900);
    std::fs::write(&path, bytes(1000)).unwrap();
    same.set_modified(stamp).unwrap();
    let closed = TraceSpec { pacing: TracePacing::Closed { depth: 2 }, ..TraceSpec::new(&path) };
    let alone = drain(&mut open(closed.clone(), ROOMY).unwrap());
    assert_eq!(known(closed, &first).0, alone);
}

#[test]
fn values_that_no_flow_can_have() {
    let synthetic = |change: &dyn Fn(&mut SyntheticSpec)| {
        let mut spec = SyntheticSpec::default();
        change(&mut spec);
        FlowSpec::synthetic("db", spec)
    };
    let flow = |change: &dyn Fn(&mut FlowSpec)| {
        let mut spec = synthetic(&|_| {});
        change(&mut spec);
        spec
    };
    let open = |rate_per_s, arrivals| SyntheticPacing::Open { rate_per_s, arrivals };
    let trace = |pacing| FlowSpec::trace("db", TraceSpec { pacing, ..TraceSpec::new("unread") });
    let cases: Vec<(FlowSpec, &str)> = vec![
        (
            synthetic(&|s| s.pacing = SyntheticPacing::Closed { depth: 0 }),
            "flow `db`: `depth` is 0; legal: 1 to 65535",
        ),
        (trace(TracePacing::Closed { depth: 65_536 }), "flow `db`: `depth` is 65536; legal: 1 to 65535"),
        (
            trace(TracePacing::Recorded { speed: 0.0 }),
            "flow `db`: `speed` is 0; legal: 1e-6 to 1e6 (2 replays twice as fast as recorded)",
        ),
        (
            synthetic(&|s| s.pacing = open(f64::NAN, Arrivals::Fixed)),
            "flow `db`: `rate_per_s` is NaN; legal: above 0 and up to 1e9 requests per second",
        ),
        (
            synthetic(&|s| s.pacing = open(1.0, Arrivals::HyperExponential(HyperExponential { scv: 0.5 }))),
            "flow `db`: `scv` is 0.5; legal: 1 (a Poisson process) to 10000",
        ),
        (synthetic(&|s| s.trim_share = -0.1), "flow `db`: `trim_share` is -0.1; legal: 0 to 1"),
        (
            synthetic(&|s| s.write_share = 0.5),
            "flow `db`: `read_share + write_share + trim_share + zeroes_share + compare_share` is 1.5; legal: shares that sum to 1",
        ),
        (
            synthetic(&|s| s.flush_every = Some(0)),
            "flow `db`: `flush_every` is 0; legal: at least 1 write, or none for no flushes",
        ),
        (
            synthetic(&|s| s.block_size = BlockSize::Fixed(Bytes(1000))),
            "flow `db`: `block_size` is 1000B; legal: a multiple of 512B, up to 1GiB",
        ),
        (
            synthetic(&|s| s.block_size = BlockSize::Weighted(vec![])),
            "flow `db`: `block_size` is an empty list; legal: at least one (size, weight)",
        ),
        (
            synthetic(&|s| s.block_size = BlockSize::Weighted(vec![(Bytes::kib(4), 1.0), (Bytes(0), 1.0)])),
            "flow `db`: `block_size[1].size` is 0B; legal: a multiple of 512B, up to 1GiB",
        ),
        (
            synthetic(&|s| s.block_size = BlockSize::Weighted(vec![(Bytes::kib(4), 0.0)])),
            "flow `db`: `block_size[0].weight` is 0; legal: above 0 and up to 1e15",
        ),
        (
            synthetic(&|s| s.alignment = Bytes(0)),
            "flow `db`: `alignment` is 0B; legal: a multiple of 512B, at least 512B",
        ),
        (
            synthetic(&|s| s.from = 1.0),
            "flow `db`: `from` is 1; legal: a fraction of the capacity, 0 to below 1",
        ),
        (
            synthetic(&|s| (s.from, s.to) = (0.5, 0.5)),
            "flow `db`: `to` is 0.5; legal: a fraction of the capacity, above `from` (0.5) and up to 1",
        ),
        (
            synthetic(&|s| (s.from, s.to) = (0.5, 0.50001)),
            "flow `db`: `from..to` is a region of 0 aligned sectors on this drive; legal: room for the largest \
             request, 8 sectors",
        ),
        (
            synthetic(&|s| s.addresses = AddressSpec::Zipf(Zipf { exponent: 0.0 })),
            "flow `db`: `exponent` is 0; legal: above 0 and up to 10",
        ),
        (
            synthetic(&|s| s.addresses = AddressSpec::HotCold(HotCold { hot_share: 1.0, hot_traffic: 0.5 })),
            "flow `db`: `hot_share` is 1; legal: above 0 and up to 0.999",
        ),
        (
            synthetic(&|s| s.addresses = AddressSpec::HotCold(HotCold { hot_share: 0.5, hot_traffic: 1.5 })),
            "flow `db`: `hot_traffic` is 1.5; legal: above 0 and up to 1",
        ),
        (
            synthetic(&|s| s.addresses = AddressSpec::HotCold(HotCold { hot_share: 1e-6, hot_traffic: 0.5 })),
            "flow `db`: `hot_share` is 0.000001; legal: a share that leaves both parts some of the 128 positions",
        ),
        (
            flow(&|f| (f.start, f.stop) = (SimTime(5000), Some(SimTime(5000)))),
            "flow `db`: `stop` is 5us; legal: later than `start`, which is 5us",
        ),
        (
            flow(&|f| f.limit = Some(0)),
            "flow `db`: `limit` is 0; legal: at least 1 request, or none for no limit",
        ),
    ];
    for (spec, expected) in cases {
        let error = Flow::new(&spec, 1024, &Streams::new(1), 0).err().expect("the spec is refused");
        assert_eq!(error.to_string(), expected);
    }
    let error = Flow::new(&flow(&|_| {}), 0, &Streams::new(1), 0).err().unwrap();
    assert_eq!(error.to_string(), "flow `db`: `capacity_sectors` is 0; legal: 1 to 2^44 sectors (8 PiB)");
}

#[test]
fn traces_that_cannot_be_written() {
    let write = |format, request| {
        let at = SimTime::ZERO;
        let rows = [interpulse_workload::generate::Recorded { at, device: 0, request }];
        write_trace(&mut Vec::new(), format, rows).unwrap_err().to_string()
    };
    let read = interpulse_engine::Request::new(interpulse_engine::Op::Read, 0, 1);
    assert_eq!(write(Format::Auto, read), "a trace cannot be written as `auto`");
    assert_eq!(
        write(Format::Msr, interpulse_engine::Request::FLUSH),
        "the format msr cannot hold flushes; fio and blkparse can"
    );
}
