//! Format detection tests: format and time unit of traces without a specified format.

use crate::common::{ROOMY, drain, file, open};
use interpulse_engine::Op;
use interpulse_workload::{Format, TimeUnit, TraceSpec, TraceSummary};

/// Request: ns, operation, sector, sectors.
type Asked = (u64, Op, u64, u32);

/// Summary and requests of these bytes.
fn read(name: &str, bytes: impl AsRef<[u8]>) -> (TraceSummary, Vec<Asked>) {
    let mut flow = open(TraceSpec::new(file(name, bytes.as_ref())), 1 << 44).unwrap();
    let rows = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
    (flow.trace_summary().unwrap().clone(), rows)
}

/// Format, unit and requests of a file from each origin, with a file name that indicates no format.
#[test]
fn files_are_detected_by_their_rows() {
    use Op::{Flush, Read, Trim, Write};
    let cases: &[(&str, &str, &str, &[Asked])] = &[
        (
            "msr",
            "100ns",
            "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,1291\n",
            &[(0, Read, 749_016, 64), (1_332_052_600, Write, 5512, 8)],
        ),
        (
            "msr",
            "100ns",
            "\u{feff}Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n\r\n\
             \"128166372003061629\",\"hm\",\"1\",\"Read\",\"1024\",\"512\",\"413\"\r\n",
            &[(0, Read, 2, 1)],
        ),
        (
            "spc",
            "s",
            "0,20,512,W,0.5\n0,28,1000,r,0.75,x,y\n",
            &[(0, Write, 20, 1), (250_000_000, Read, 28, 2)],
        ),
        (
            "alibaba",
            "us",
            "419,W,1048576,16384,1577808144360767\n419,R,0,4096,1577808144360800\n",
            &[(0, Write, 2048, 32), (33_000, Read, 0, 8)],
        ),
        (
            "baleen",
            "s",
            "# block_id io_offset io_size op_time op_name pipeline user_namespace user_name\n\
             1 262144 4096 1572074461.578 1 24 3 5\n0 8388096 512 1572074461.579 4 24 3 5\n\
             7 0 1 1572074462 100 24 3 5\n",
            &[(0, Read, 16_896, 8), (1_000_000, Write, 16_383, 1)],
        ),
        (
            "biotracer",
            "s",
            "8192\t\t9\t\t4096\t\t5\t\t1425168000.5\t\t1425168000.6\t\t1425168000.7\t\t1425168000.8\n\
             16 8 0 4 1425168001 1425168001 1425168001 1425168001\n\
             16 8 4096 0 1425168001 1425168001 1425168001 1425168001\n",
            &[(0, Write, 8192, 8), (500_000_000, Read, 16, 8)],
        ),
        (
            "tencent",
            "s",
            "Timestamp,Offset,Size,IOType,VolumeID\n1538323200,512,128,0,1063\n1538323203,640,8,1,1063\n",
            &[(0, Read, 512, 128), (3_000_000_000, Write, 640, 8)],
        ),
        (
            "systor",
            "s",
            "Timestamp,Response,IOType,LUN,Offset,Size\n1455592200.000100,0.001,W,3,8192,4096\n\
             1455592200.000400,,,3,0,0\n1455592200.000400,0.0002,R,3,0,512\n",
            &[(0, Write, 16, 8), (300_000, Read, 0, 1)],
        ),
        (
            "fiu",
            "ns",
            "329131208190249 4892 syslogd 904 8 W 6 0 531e779\n329131218190249 2522 kjournald 915 8 R 6 0 2a1\n",
            &[(0, Write, 904, 8), (10_000_000, Read, 915, 8)],
        ),
        (
            "blkparse",
            "s",
            "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n\
             \x20 8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]\n\
             \x20 8,0    3        3     0.000002197   697  Q  FN [kjournald]\n\
             \x20 8,0    3        4     0.000011829   697  Q  RA 223498 + 16 [cat]\n\
             \x20 8,0    3        5     0.000012000   697  Q   D 100 + 800 [fstrim]\n\
             CPU0 (sda):\n Reads Queued:           1,        8KiB\n",
            &[
                (0, Write, 223_490, 8),
                (368, Flush, 0, 0),
                (10_000, Read, 223_498, 16),
                (10_171, Trim, 100, 800),
            ],
        ),
        (
            "blkparse",
            "s",
            "8,16 1 1 1.5 0 D R 64 + 8 [a]\n8,16 1 2 1.6 0 C R 64 + 8 [0]\n8,16 1 3 1.7 0 D WS 72 + 8 [a]\n",
            &[(0, Read, 64, 8), (200_000_000, Write, 72, 8)],
        ),
        (
            "fio",
            "us",
            "fio version 3 iolog\n2 /dev/sda add\n8 /dev/sda open\n878 /dev/sda write 0 16384\n\
             888 /dev/sda read 16384 512\n900 /dev/sda close\n",
            &[(0, Write, 0, 32), (10_000, Read, 32, 1)],
        ),
        (
            "xperf",
            "us",
            "BeginHeader\n  DiskRead,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, \
             ElapsedTime,  DiskNum\nEndHeader\nOS Version: 5.2.3790, Trace Size: 10240KB\n\
             DiskReadInit,  100, System (   4), 120, 0x0\n\
             DiskWrite,  5100, System (   4), 120, 0xfffffa8004, 0x0000001000, 0x00002000, 320, 1, 0x60900\n\
             DiskRead,  6100, System (   4), 120, 0xfffffa8004, 0x400, 0x00000200, 320, 1, 0x60900\n",
            &[(0, Write, 8, 16), (1_000_000, Read, 2, 1)],
        ),
        (
            "mqsim",
            "ns",
            "938513000 4 264 16 0\n938828000 4 197 16 1\n",
            &[(0, Write, 264, 16), (315_000, Read, 197, 16)],
        ),
        (
            "disksim-ascii",
            "ms",
            "0.000000 0 303567 7 0\n26.214000 0 55590 6 1\n",
            &[(0, Write, 303_567, 7), (26_214_000, Read, 55_590, 6)],
        ),
        // Flags of DiskSim beyond read and write.
        (
            "disksim-ascii",
            "ms",
            "0.5 0 16 8 0x3\n0.75 0 24 8 2\n",
            &[(0, Read, 16, 8), (250_000, Write, 24, 8)],
        ),
        // Whole ms: ns would result in 1e9 requests per second.
        (
            "disksim-ascii",
            "ms",
            "0 0 8 8 1\n1 0 16 8 0\n3 0 24 8 1\n",
            &[(0, Read, 8, 8), (1_000_000, Write, 16, 8), (3_000_000, Read, 24, 8)],
        ),
        (
            "ascii",
            "100ns",
            "128166372003061629 0 8 8 1\n128166372003061640 0 8 8 0\n",
            &[(0, Read, 8, 8), (1100, Write, 8, 8)],
        ),
    ];
    for (i, (format, unit, text, rows)) in cases.iter().enumerate() {
        let (summary, read) = read(&format!("origin_{i}"), text);
        assert_eq!((summary.format, summary.time_unit, read.as_slice()), (*format, *unit, *rows), "{text}");
        assert!(summary.assumed.contains("--set flow.0.time-unit="), "{}", summary.assumed);
    }
}

/// Lines that are no requests are counted.
#[test]
fn other_lines_are_counted() {
    let (summary, _) =
        read("other", "8,0 1 1 0.5 0 Q R 64 + 8 [a]\n8,0 1 2 0.6 0 C R 64 + 8 [0]\n8,0 1 3 0.7 0 Q N [a]\n");
    assert_eq!((summary.rows, summary.other_rows, summary.bad_rows), (1, 2, 0));
}

#[test]
fn the_unit_that_is_given_counts() {
    let text = "0 0 8 8 1\n20 0 16 8 0\n";
    for (unit, ns, format) in [
        (TimeUnit::Ns, 20, "mqsim"),
        (TimeUnit::Us, 20_000, "ascii"),
        (TimeUnit::Ms, 20_000_000, "disksim-ascii"),
    ] {
        let spec = TraceSpec { time_unit: Some(unit), ..TraceSpec::new(file("given", text.as_bytes())) };
        let mut flow = open(spec, ROOMY).unwrap();
        assert_eq!(drain(&mut flow)[1].0.as_ns(), ns);
        let summary = flow.trace_summary().unwrap();
        assert_eq!((summary.format, summary.time_unit), (format, unit.name()));
    }
    // Also for a format with a documented unit.
    let spec = TraceSpec {
        time_unit: Some(TimeUnit::Ms),
        ..TraceSpec::new(file("given.spc", b"0,0,512,r,1\n0,0,512,r,3.5\n"))
    };
    assert_eq!(drain(&mut open(spec, ROOMY).unwrap())[1].0.as_ns(), 2_500_000);
}

/// A specified format is used; an implausible rate is reported with a plausible unit.
#[test]
fn a_specified_format_keeps_its_unit_and_reports_implausible_rates() {
    let text = "0 0 8 8 1\n1 0 16 8 0\n3 0 24 8 1\n";
    let named = TraceSpec { format: Format::SsdSim, ..TraceSpec::new(file("named", text.as_bytes())) };
    let ending = TraceSpec::new(file("ending.ssdsim", text.as_bytes()));
    for spec in [named, ending] {
        let flow = open(spec, ROOMY).unwrap();
        let summary = flow.trace_summary().unwrap();
        assert_eq!((summary.format, summary.span.as_ns()), ("ssdsim", 3));
        assert_eq!(
            summary.assumed,
            "times in ns, although this results in 6.7e8 requests per second (override: --set flow.0.time-unit=ms)"
        );
    }
}

#[test]
fn assumptions_are_reported() {
    let said = |text: &str| read("said", text).0.assumed;
    let types =
        "; type 1 is assumed to be a read (override: --set flow.0.format=ascii --set flow.0.writes-are=1)";
    for (text, expected) in [
        (
            "0 0 8 8 1\n1 0 16 8 0\n3 0 24 8 1\n",
            "times assumed to be in ms: 667 requests per second; ns would result in 6.7e8 (override: --set flow.0.time-unit=us)",
        ),
        (
            "7 0 8 8 1\n",
            "times assumed to be in ns: a single time does not determine the unit (override: --set flow.0.time-unit=ms)",
        ),
        (
            "7 0 8 8 1\n7 0 8 8 1\n",
            "times assumed to be in ns: a single time does not determine the unit (override: --set flow.0.time-unit=ms)",
        ),
        (
            "0 0 8 8 1\n1500 0 8 8 1\n250000 0 8 8 1\n",
            "times in ns: 8000 requests per second (override: --set flow.0.time-unit=ms)",
        ),
    ] {
        assert_eq!(said(text), format!("{expected}{types}"));
    }
    assert_eq!(
        said("0,0,512,r,26214000\n0,0,512,r,52428000\n"),
        "times assumed to be in ns: 38 requests per second; s would result in 3.8e-8 (override: --set flow.0.time-unit=ms)"
    );
}

/// One bad row among the first does not prevent the detection and is reported.
#[test]
fn a_bad_row_does_not_hide_the_format() {
    let text = "Time,Host\nnoon,h,0,Read,0,512,0\n1,h,0,Read,0,512,0\n2,h,0,Read,0,512,0\n";
    let error = open(TraceSpec::new(file("bad_first", text.as_bytes())), ROOMY).err().unwrap().to_string();
    assert!(error.contains("line 2: `time` is `noon`, which is not a number"), "{error}");
}

/// A file name extension does not prevent reading rows of another format.
#[test]
fn rows_count_more_than_the_name() {
    let (summary, _) = read("wrong.spc", "128166372003061629,hm,1,Read,383496192,32768,413\n");
    assert_eq!(summary.format, "msr");
}
