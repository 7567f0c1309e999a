//! Fuzz tests: arbitrary and damaged bytes as input of every reader.

use interpulse_engine::Op;
use interpulse_workload::generate::{TraceRecipe, pack, trace_bytes};
use interpulse_workload::{AsciiLayout, Format, Packing, TypeCode, fuzz_trace};
use proptest::prelude::*;
use std::path::PathBuf;

fn formats() -> Vec<Format> {
    Format::readers().collect()
}

/// Percentage of reads that a trace of this format can have.
fn reads(format: &Format) -> u64 {
    if format.holds(Op::Write) { 60 } else { 100 }
}

const PACKINGS: [Packing; 3] = [Packing::Plain, Packing::Gzip, Packing::Zstd];

/// Fragments of rows, so that random texts resemble traces.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(",".to_owned()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("#".to_owned()),
        Just("Read".to_owned()),
        Just("w".to_owned()),
        Just("-1".to_owned()),
        Just("0.5".to_owned()),
        Just("18446744073709551615".to_owned()),
        Just("17592186044415".to_owned()),
        (0u64..1000).prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "\\PC{0,3}",
    ]
}

/// Rows of legal structure with any numbers.
fn row() -> impl Strategy<Value = String> {
    let number = prop_oneof![0u64..20_000, any::<u64>(), Just(1 << 44), Just((1 << 53) - 1)];
    (0usize..8, any::<u64>(), 0u32..3, number, 0u64..1 << 31, any::<bool>()).prop_map(
        |(shape, time, device, place, length, read)| match shape {
            3 => {
                let (at, operation) = (time % 1000, ["R", "FWFS", "D", "FN", "FW", "A"][(time % 6) as usize]);
                let action = if operation == "A" { "A W" } else { &format!("Q {operation}") };
                format!("8,{device} 0 1 {at}.5 1 {action} {place} + {length} <- (9,{device}) {place}\n")
            }
            4 => format!("{time} /f{device} {} {place} {length}\n", if read { "trim" } else { "sync" }),
            5 => format!("/f{device} {} {place} {length}\n", if read { "trim" } else { "wait" }),
            6 => format!("{device} {place} {length} {time}.25 {} 0 0 {device} 1 2\n", 1 + time % 7),
            7 => format!("{place}\t{length}\t{length}\t{}\t{time}.5\t0\t0\t0\n", 4 + device),
            0 => format!("{time},h,{device},{},{place},{length},0\n", if read { "Read" } else { "Write" }),
            1 => format!("{device},{place},{length},{},{time}\n", if read { "r" } else { "W" }),
            _ => format!("{time} {device} {place} {length} {}\n", u8::from(read)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_trace(&bytes);
    }

    #[test]
    fn nearly_rows(tokens in prop::collection::vec(token(), 0..60), packing in 0usize..3) {
        fuzz_trace(&pack(tokens.concat().as_bytes(), PACKINGS[packing]).unwrap());
    }

    #[test]
    fn rows_with_any_numbers(rows in prop::collection::vec(row(), 1..30)) {
        fuzz_trace(rows.concat().as_bytes());
    }

    /// A good trace with some changed bytes and a truncated end.
    #[test]
    fn damaged_traces(
        (format, packing, seed) in (0..formats().len(), 0..PACKINGS.len(), 0u64..100),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let carries = formats()[format].holds(Op::Flush);
        let (discard_percent, flush_percent) = if carries { (10, 10) } else { (0, 0) };
        let read_percent = reads(&formats()[format]);
        let recipe = TraceRecipe {
            rows: 40, devices: 2, device_sectors: 4096, seed, read_percent, discard_percent, flush_percent,
            ..Default::default()
        };
        let mut bytes = trace_bytes(&recipe, formats()[format].clone(), PACKINGS[packing]).unwrap();
        for (place, byte) in edits {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let keep = bytes.len() / 2 + cut.index(bytes.len() / 2 + 1);
        bytes.truncate(keep);
        fuzz_trace(&bytes);
    }

    /// Intact traces are accepted by the reader of their format in every mode.
    #[test]
    fn good_traces_are_accepted(format in 0..formats().len(), packing in 0..PACKINGS.len(), seed in any::<u64>()) {
        let read_percent = reads(&formats()[format]);
        let recipe = TraceRecipe { rows: 40, seed, read_percent, ..Default::default() };
        let bytes = trace_bytes(&recipe, formats()[format].clone(), PACKINGS[packing]).unwrap();
        prop_assert!(fuzz_trace(&bytes) >= 4);
    }
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// File name, and number of replays of [`fuzz_trace`] that accept it, four of each format, of `auto` and of columns
/// named by a heading.
const CORPUS: [(&str, usize); 13] = [
    ("ascii-us.txt", 12),
    ("bad-utf8.bin", 15),
    ("crlf.mqsim", 20),
    ("cut.mqsim.gz", 0),
    ("cut.mqsim.zst", 0),
    ("good.blkparse", 8),
    ("good.csv", 8),
    ("good.disksim-ascii", 12),
    ("good.mqsim.gz", 20),
    ("good.mqsim.zst", 20),
    ("good.spc", 8),
    ("good.vscsi", 11),
    ("overflow.csv", 0),
];

#[test]
fn the_corpus_is_read_as_before() {
    let mut names: Vec<String> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let seen: Vec<(&str, usize)> = names
        .iter()
        .map(|name| (name.as_str(), fuzz_trace(&std::fs::read(corpus().join(name)).unwrap())))
        .collect();
    assert_eq!(seen, CORPUS);
}

/// Regenerates the corpus: `cargo test -p interpulse-workload fuzz -- --ignored`.
#[test]
#[ignore = "writes the committed corpus"]
fn regenerate_the_corpus() {
    let recipe = TraceRecipe { rows: 12, devices: 2, device_sectors: 4096, ..Default::default() };
    let put = |name: &str, bytes: &[u8]| std::fs::write(corpus().join(name), bytes).unwrap();
    let bytes = |format, packing| trace_bytes(&recipe, format, packing).unwrap();
    put("good.csv", &bytes(Format::Msr, Packing::Plain));
    put("good.vscsi", &bytes(Format::Vscsi, Packing::Plain));
    put("good.blkparse", &bytes(Format::named("blkparse").unwrap(), Packing::Plain));
    put("good.spc", &bytes(Format::Spc, Packing::Plain));
    put("good.disksim-ascii", &bytes(Format::DiskSimAscii, Packing::Plain));
    let ascii = Format::Ascii(AsciiLayout { types: TypeCode::OneWrites });
    put("ascii-us.txt", &bytes(ascii, Packing::Plain));
    for (ending, packing) in [("gz", Packing::Gzip), ("zst", Packing::Zstd)] {
        let packed = bytes(Format::MqSim, packing);
        put(&format!("good.mqsim.{ending}"), &packed);
        put(&format!("cut.mqsim.{ending}"), &packed[..packed.len() - 5]);
    }
    put("crlf.mqsim", b"\xef\xbb\xbf# two rows\r\n1 0 8 8 1\r\n\r\n2 0 16 8 0");
    put("bad-utf8.bin", b"1 0 8 8 1\n2 0 \xff\xfe 8 1\n");
    put(
        "overflow.csv",
        b"18446744073709551615,h,0,Read,0,512,0\n1,h,4294967296,Read,0,512,0\n\
          1,h,0,Read,9007199254740991,1073741312,0\n1,h,0,Read,9007199254740992,512,0\n",
    );
}
