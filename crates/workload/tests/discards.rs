//! Discards and flushes of traces: formats that hold them, placement, flushes of writes, and leaving them out.

use crate::common::{ROOMY, drain, file, open};
use interpulse_engine::{Bytes, Op, Request, SimTime, Streams};
use interpulse_workload::generate::{TraceRecipe, trace_bytes};
use interpulse_workload::{Fit, Flow, FlowSpec, Format, Packing, TracePacing, TraceSpec, Treatment, measure};
use proptest::prelude::*;

type Asked = (u64, Op, u64, u32);

fn requests(
    text: impl AsRef<[u8]>,
    name: &str,
    capacity: u64,
    change: impl Fn(&mut TraceSpec),
) -> Vec<Asked> {
    let mut spec = TraceSpec::new(file(name, text.as_ref()));
    change(&mut spec);
    let mut flow = open(spec, capacity).unwrap();
    drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect()
}

/// What the flags of a blkparse operation ask for: the request, and what follows its completion.
#[test]
fn flushes_of_writes_follow_or_precede_them() {
    const FLUSH: Option<Request> = Some(Request::FLUSH);
    let write = Request::new(Op::Write, 64, 8);
    let discard = Request::new(Op::Trim, 64, 8);
    let read = Request { op: Op::Read, ..write };
    let cases: [(&str, Option<Request>, Option<Request>); 16] = [
        ("W 64 + 8", Some(write), None),
        ("WS 64 + 8", Some(write), None),
        ("FWFS 64 + 8", Some(write), FLUSH),
        ("WFS 64 + 8", Some(write), FLUSH),
        ("FWS 64 + 8", FLUSH, Some(write)),
        ("FWS 64 + 0", FLUSH, None),
        ("FWS", FLUSH, None),
        ("FN", FLUSH, None),
        ("FN 18446744073709551615 + 0", FLUSH, None),
        ("FF", FLUSH, None),
        ("D 64 + 8", Some(discard), None),
        ("DS 64 + 8", Some(discard), None),
        ("DE 64 + 8", Some(discard), None),
        ("D 64 + 0", None, None),
        ("N", None, None),
        ("ZR 64 + 8", None, None),
    ];
    for (k, (operation, request, then)) in cases.into_iter().enumerate() {
        let text = format!("8,0 1 1 0.5 9 Q R 64 + 8 [x]\n8,0 1 2 0.6 9 Q {operation} [x]\n");
        let mut flow =
            open(TraceSpec::new(file(&format!("flags_{k}.blkparse"), text.as_bytes())), ROOMY).unwrap();
        assert_eq!(flow.next().unwrap().map(|next| next.1), Some(read));
        let next = flow.next().unwrap();
        assert_eq!(next, request.map(|request| (SimTime(100_000_000), request)), "{operation}");
        let follows = flow.terms().and_then(|terms| terms.then).filter(|_| next.is_some());
        assert_eq!(follows, then, "{operation}");
    }
}

#[test]
fn a_limit_counts_the_flushes_of_writes() {
    let text = "8,0 1 1 0.5 9 Q FWFS 0 + 8 [x]\n8,0 1 2 0.6 9 Q FWFS 8 + 8 [x]\n";
    let path = file("limit.blkparse", text.as_bytes());
    for (limit, then, last) in
        [(1, [false, false], 1), (2, [true, false], 2), (3, [true, false], 3), (4, [true, true], 4)]
    {
        let spec = FlowSpec { limit: Some(limit), ..FlowSpec::trace("t", TraceSpec::new(&path)) };
        let mut flow = Flow::new(&spec, ROOMY, &Streams::new(1), 0).unwrap();
        let mut followed = Vec::new();
        while flow.next().unwrap().is_some() {
            followed.push(flow.terms().unwrap().then.is_some());
        }
        assert_eq!((followed.as_slice(), flow.issued()), (&then[..limit.div_ceil(2) as usize], last));
    }
}

#[test]
fn fio_trims_and_syncs_are_replayed() {
    let text = "fio version 3 iolog\n9 /f add\n10 /f write 4096 131072\n20 /f trim 8192 1048576\n25 /f trim 100 1000\n\
                30 /f sync 0 0\n40 /f datasync 0 0\n50 /f trim 10 500\n60 /f close\n";
    let seen = requests(text, "trims.fio", ROOMY, |_| {});
    let expected = [
        (0, Op::Write, 8, 256),
        (10_000, Op::Trim, 16, 2048),
        // Narrowed to whole sectors.
        (15_000, Op::Trim, 1, 1),
        (20_000, Op::Flush, 0, 0),
        (30_000, Op::Flush, 0, 0),
    ];
    assert_eq!(seen, expected);
}

/// UNMAP and SYNCHRONIZE CACHE of both versions.
#[test]
fn vscsi_unmaps_and_flushes_are_replayed() {
    let record = |version: u16, command: u16, length: u32, lba: u64, us: u64| {
        let mut bytes = vec![0; if version == 1 { 32 } else { 40 }];
        let (at_command, at_version, at_length) = if version == 1 { (12, 14, 4) } else { (0, 2, 8) };
        bytes[at_command..][..2].copy_from_slice(&command.to_le_bytes());
        bytes[at_version..][..2].copy_from_slice(&(version << 8).to_le_bytes());
        bytes[at_length..][..4].copy_from_slice(&length.to_le_bytes());
        bytes[16..24].copy_from_slice(&lba.to_le_bytes());
        bytes[24..32].copy_from_slice(&us.to_le_bytes());
        bytes
    };
    for version in [1, 2] {
        let rows = [
            record(version, 0x2a, 4096, 8, 5),
            record(version, 0x42, 8192, 8, 6),
            // Without a range.
            record(version, 0x42, 24, 0, 7),
            record(version, 0x35, 0, 0, 8),
            record(version, 0x91, 0, 0, 9),
            // WRITE SAME.
            record(version, 0x93, 4096, 0, 10),
        ];
        let seen = requests(rows.concat(), &format!("unmap.v{version}"), ROOMY, |_| {});
        let flush = |ns| (ns, Op::Flush, 0, 0);
        let expected = [(0, Op::Write, 8, 8), (1000, Op::Trim, 8, 16), flush(3000), flush(4000)];
        assert_eq!(seen, expected, "version {version}");
    }
}

const BLKPARSE: &str = "8,0 1 1 0.1 9 Q FWFS 0 + 8 [x]\n8,0 1 2 0.2 9 Q D 2048 + 2048 [x]\n8,0 1 3 0.3 9 Q FN [x]\n\
                        8,0 1 4 0.4 9 Q R 0 + 8 [x]\n";

#[test]
fn the_summary_and_the_statistics_count_them() {
    let path = file("counted.blkparse", BLKPARSE.as_bytes());
    let flow = open(TraceSpec::new(&path), ROOMY).unwrap();
    let found = flow.trace_summary().unwrap();
    assert_eq!((found.rows, found.requests, found.reads, found.writes), (4, 5, 1, 1));
    assert_eq!((found.discards, found.discarded_bytes, found.flushes), (1, Bytes(1 << 20), 2));
    assert_eq!((found.flushes_of_writes, found.other_rows), (1, 0));
    let measured = measure(&TraceSpec::new(&path), &mut |_| true).unwrap().unwrap().statistics;
    assert_eq!((measured.requests, measured.discards, measured.discarded), (2, 1, Bytes(1 << 20)));
    assert_eq!((measured.flushes, measured.flushes_of_writes), (2, 1));
}

#[test]
fn what_is_left_out_is_counted_and_changes_nothing_else() {
    let path = file("skipped.blkparse", BLKPARSE.as_bytes());
    let skip = |discards, flushes| {
        let mut flow = open(TraceSpec { discards, flushes, ..TraceSpec::new(&path) }, ROOMY).unwrap();
        let mut seen = Vec::new();
        while let Some((at, request)) = flow.next().unwrap() {
            seen.push((at.as_ns() / 100_000_000, request.op));
            seen.extend(flow.terms().and_then(|terms| terms.then).map(|then| (9, then.op)));
        }
        let found = flow.trace_summary().unwrap();
        (seen, found.skipped_discards, found.skipped_flushes)
    };
    use Op::{Flush, Read, Trim, Write};
    use Treatment::{Replay, Skip};
    assert_eq!(skip(Replay, Replay), (vec![(0, Write), (9, Flush), (1, Trim), (2, Flush), (3, Read)], 0, 0));
    assert_eq!(skip(Skip, Replay), (vec![(0, Write), (9, Flush), (2, Flush), (3, Read)], 1, 0));
    assert_eq!(skip(Replay, Skip), (vec![(0, Write), (1, Trim), (3, Read)], 0, 2));
    assert_eq!(skip(Skip, Skip), (vec![(0, Write), (3, Read)], 1, 2));
}

/// A discard goes where writes of its 4 KiB pieces go; it may be larger than the drive.
#[test]
fn discards_are_folded_and_scaled_piece_by_piece() {
    let fit = |text: &str, name: &str, capacity, fit| {
        let all = requests(text, name, capacity, |spec| spec.fit = fit);
        all.into_iter().filter(|row| row.1 == Op::Trim).map(|row| (row.2, row.3)).collect::<Vec<_>>()
    };
    let row = |place: &str| format!("8,0 1 1 0.5 9 Q W 0 + 8 [x]\n8,0 1 2 0.6 9 Q D {place} [x]\n");
    let fold = |place: &str| fit(&row(place), "fold.blkparse", 1024, Fit::Fold);
    assert_eq!(fold("2048 + 512"), [(0, 512)]);
    // Over the end of the drive, and larger than it.
    assert_eq!(fold("1000 + 48"), [(1000, 24), (0, 24)]);
    assert_eq!(fold("4000 + 4000000000"), [(0, 1024)]);
    let scale = |place: &str, capacity| fit(&row(place), "scale.blkparse", capacity, Fit::Scale);
    // Halved: 0 to 4096 onto 2048 sectors.
    assert_eq!(scale("2048 + 2048", 2048), [(1024, 1024)]);
    assert_eq!(scale("4088 + 8", 2048), [(2040, 8)]);
    // A part of a piece stays one.
    assert_eq!(scale("4095 + 1", 2048), [(2040, 1)]);
    // Stretched over more than a request can be long; the last piece keeps its size.
    let parts = scale("4 + 4294967292", 1 << 34);
    assert_eq!((parts[0], parts.len()), ((16, 1 << 31), 8));
    assert!(parts.windows(2).all(|pair| pair[0].0 + u64::from(pair[0].1) == pair[1].0));
    assert_eq!(parts[7].0 + u64::from(parts[7].1), (1 << 34) - 24);
}

#[test]
fn generated_discards_and_flushes_are_read_back() {
    let recipe = TraceRecipe { rows: 400, discard_percent: 10, flush_percent: 5, ..Default::default() };
    let expected: Vec<_> = recipe.requests().map(|r| r.request).collect();
    assert!([Op::Read, Op::Write, Op::Trim, Op::Flush].iter().all(|&op| expected.iter().any(|r| r.op == op)));
    for format in Format::readers().filter(|format| format.holds(Op::Trim)) {
        let path = file("generated", &trace_bytes(&recipe, format.clone(), Packing::Plain).unwrap());
        let pacing = TracePacing::Closed { depth: 1 };
        let mut flow =
            open(TraceSpec { format: format.clone(), pacing, ..TraceSpec::new(path) }, ROOMY).unwrap();
        let seen: Vec<_> = drain(&mut flow).into_iter().map(|next| next.1).collect();
        assert_eq!(seen, expected, "{}", format.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    /// Folded discards cover exactly the sectors of their addresses modulo the capacity.
    #[test]
    fn folded_discards_cover_their_sectors(start in 0u64..5000, length in 1u64..3000, capacity in 64u64..2000) {
        let text = format!("8,0 1 1 0.5 9 Q D {start} + {length} [x]\n");
        let parts = requests(text, "cover.blkparse", capacity, |spec| spec.fit = Fit::Fold);
        let covered: std::collections::BTreeSet<u64> =
            parts.iter().flat_map(|&(_, _, sector, sectors)| sector..sector + u64::from(sectors)).collect();
        let expected: std::collections::BTreeSet<u64> = (start..start + length).map(|s| s % capacity).collect();
        prop_assert_eq!(covered, expected);
    }
}
