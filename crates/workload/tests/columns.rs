//! Format `columns`: layouts from settings and headings, refusals with the settings to try, and the units of addresses
//! and sizes.

use crate::common::{ROOMY, drain, file, open};
use interpulse_engine::{Bytes, Op};
use interpulse_workload::{
    Columns, Format, Operation, Role, Separator, TimeUnit, TracePacing, TraceSpec, TraceSummary,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Request: ns, operation, sector, sectors.
type Asked = (u64, Op, u64, u32);

fn path(text: &str) -> std::path::PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    file(&format!("columns_{}", NEXT.fetch_add(1, Ordering::Relaxed)), text.as_bytes())
}

fn read(text: &str, change: impl FnOnce(&mut TraceSpec)) -> (TraceSummary, Vec<Asked>) {
    let mut spec = TraceSpec::new(path(text));
    change(&mut spec);
    let mut flow = open(spec, ROOMY).unwrap_or_else(|error| panic!("{error}"));
    let rows = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
    (flow.trace_summary().unwrap().clone(), rows)
}

/// Message for this trace, without its path.
fn message(text: &str, change: impl FnOnce(&mut TraceSpec)) -> String {
    let mut spec = TraceSpec::new(path(text));
    change(&mut spec);
    let head = format!("trace {}: ", spec.path.display());
    let message = open(spec, ROOMY).err().expect("the trace is refused").to_string();
    message.strip_prefix(&head).unwrap_or(&message).to_owned()
}

fn layout(roles: &str) -> Columns {
    let role = |name| Role::ALL.iter().find(|each| each.0 == name).unwrap().1;
    Columns::of(&roles.split(' ').map(role).collect::<Vec<_>>())
}

fn set(columns: Columns) -> impl FnOnce(&mut TraceSpec) {
    |spec| spec.format = Format::Columns(columns)
}

fn sectors(spec: &mut TraceSpec) {
    spec.address_unit = Some(Bytes(512));
}

#[test]
fn named_columns_are_read_in_any_order_and_with_any_separator() {
    use Op::{Read, Write};
    let expected: &[Asked] = &[(0, Write, 8, 16), (2_000, Read, 0, 1)];
    for (roles, text) in [
        ("time op offset size", "5,w,4096,8192\n7,R,0,512\n"),
        ("time op offset size", "5\tw\t4096\t8192\n7\tR\t0\t512\n"),
        ("time op offset size", "5;w;4096;8192\r\n7;R;0;512\r\n"),
        ("time op offset size", "5|w|4096|8192\n7|R|0|512"),
        ("time op offset size", "  5  Write 4096 8192\n7 read 0 512\n"),
        ("time op offset size", "\"5\", \"W\" ,\"4096\",\"8192\", more\n\"7\",\"R\",\"0\",\"512\"\n"),
        ("size offset op time", "8192,4096,write,5\n512,0,get,7\n"),
        ("skip time skip op offset size", "0,5,x,WS,0x1000,8.192e3\n1,7,,RA,0x0,512.0\n"),
        ("op offset size device time", "2a 4096 8192 sda 5\n28 0 512 sda 7\n"),
        ("time op offset size skip", "# a comment\ntime,what,where,much\n5,FW,4096,8192\n\n7,R,0,512\n"),
    ] {
        let (summary, rows) = read(text, |spec| {
            spec.format = Format::Columns(layout(roles));
            spec.time_unit = Some(TimeUnit::Us);
        });
        assert_eq!(rows, expected, "{text}");
        assert_eq!((summary.format, summary.time_unit), ("columns", "us"));
    }
}

/// The values that `docs/TRACE-READING.md` prints for its example.
#[test]
fn units_words_and_operations_are_set() {
    use Op::{Read, Write};
    // Sectors, times in ns.
    let columns = layout("time offset size op");
    let (_, rows) = read("1 0 48 W\n200 80 8 W\n15000 80 8 R\n", |spec| {
        spec.format = Format::Columns(columns.clone());
        spec.time_unit = Some(TimeUnit::Ns);
        sectors(spec);
    });
    assert_eq!(rows, [(0, Write, 0, 48), (199, Write, 80, 8), (14_999, Read, 80, 8)]);
    // Reads only, times in s, a heading with the unit of the addresses.
    let columns = Columns { operation: Some(Operation::Read), ..layout("offset size time") };
    let (summary, rows) =
        read("LBA,IO_SIZE,TIME\n1024,8,0.0001\n2048,16,0.0003\n1024,8,9e-4\n", set(columns.clone()));
    assert_eq!(rows, [(0, Read, 1024, 8), (200_000, Read, 2048, 16), (800_000, Read, 1024, 8)]);
    assert!(summary.assumed.contains("addresses in units of 512B, sizes of 512B"), "{}", summary.assumed);
    let writes = Columns { operation: Some(Operation::Write), ..columns };
    let (summary, rows) = read("1024,8,0.1\n2048,16,0.3\n", |spec| {
        spec.format = Format::Columns(writes);
        spec.time_unit = Some(TimeUnit::Ms);
        (spec.address_unit, spec.size_unit) = (Some(Bytes(4096)), Some(Bytes(1024)));
    });
    assert_eq!(rows, [(0, Write, 8192, 16), (200_000, Write, 16_384, 32)]);
    assert!(!summary.assumed.contains("override: --set flow.0.address-unit"), "{}", summary.assumed);
    // Words of one's own; what is neither stays a fault.
    let words = Columns {
        read_words: vec!["1".into()],
        write_words: vec!["0".into(), "put it".into()],
        ..layout("time op offset size")
    };
    let (_, rows) = read("0,1,0,512\n1000,PUT IT,512,512\n2000,0,0,512\n", set(words.clone()));
    assert_eq!(rows.iter().map(|row| row.1).collect::<Vec<_>>(), [Read, Write, Write]);
    assert_eq!(
        message("0,1,0,512\n1000,2,512,512\n", set(words)),
        "line 2: `op` is `2`, which is not an operation; legal: 1 (read) or 0, put it (write)"
    );
    // Header rows with numbers.
    let columns = Columns { header_rows: 2, ..layout("time op offset size") };
    let (_, rows) = read("2024 trace 7\n1,W,9,9\n5,W,4096,8192\n", set(columns));
    assert_eq!(rows, [(0, Write, 8, 16)]);
    // Devices by number or name are placed side by side.
    let (summary, rows) = read("0,R,0,512,sdb\n1,R,512,512,sda\n", set(layout("time op offset size device")));
    assert_eq!((summary.devices.len(), rows[0].2, rows[1].2), (2, 2048, 1));
    // A row that begins with an empty column is no comment.
    let columns = Columns { separator: Some(Separator::Semicolon), ..layout("skip time op offset size") };
    assert_eq!(read(";5;W;4096;8192\n", set(columns)).1, [(0, Write, 8, 16)]);
}

#[test]
fn without_times_only_closed_pacing_is_possible() {
    let columns = layout("op offset size");
    let text = "r,0,512\nw,512,512\n";
    assert_eq!(
        message(text, set(columns.clone())),
        "flow `t`: `columns` is without time; legal: a time, or closed pacing"
    );
    let (summary, rows) = read(text, |spec| {
        spec.format = Format::Columns(columns);
        spec.pacing = TracePacing::Closed { depth: 2 };
    });
    assert_eq!((rows.len(), summary.assumed.starts_with("no column holds times")), (2, true));
}

#[test]
fn headings_name_columns_and_units() {
    use Op::{Read, Write};
    let cases: &[(&str, &str, &[Asked])] = &[
        // The index column of pandas, without and with a name.
        (
            "100ns",
            ",Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n0,128166372003061629,hm,1,Read,1024,512,4\n\
             1,128166372003061729,hm,1,Write,0,1024,4\n",
            &[(0, Read, 2, 1), (10_000, Write, 0, 2)],
        ),
        (
            "us",
            "Unnamed: 0,device_id,opcode,offset,length,timestamp\n0,4,W,512,16384,1577808144360767\n\
             1,4,R,0,4096,1577808144360800\n",
            &[(0, Write, 1, 32), (33_000, Read, 0, 8)],
        ),
        // The columns of spc or tencent with other units.
        (
            "ms",
            "dev,lba,bytes,op,time_ms\n0,20,512,W,1\n0,28,1000,r,2.5\n",
            &[(0, Write, 20, 1), (1_500_000, Read, 28, 2)],
        ),
        (
            "ms",
            "time (ms),offset_bytes,size_bytes,is_write,dev\n5,4096,8192,1,0\n6,0,512,0,0\n",
            &[(0, Write, 8, 16), (1_000_000, Read, 0, 1)],
        ),
        // The columns of mqsim, but 1 writes.
        (
            "us",
            "time_us dev lba sectors is_write\n5 0 8 16 1\n6 0 0 1 0\n",
            &[(0, Write, 8, 16), (1_000, Read, 0, 1)],
        ),
        // libCacheSim's trace.csv: SCSI commands, times in s.
        (
            "s",
            "version,time,op,size,lbn\n1,33898,2a,512,10\n1,33899,28,6656,20\n",
            &[(0, Write, 10, 1), (1_000_000_000, Read, 20, 13)],
        ),
        (
            "ns",
            "# ts_ns; rw; byteOffset; nbytes\n10;R;512;1024\n30;W;0;512\n",
            &[(0, Read, 1, 2), (20, Write, 0, 1)],
        ),
        (
            "us",
            "op\ttime_us\tsector\tsectors\nRead\t1.5e3\t0x10\t8\nWrite\t2e3\t0\t1\n",
            &[(0, Read, 16, 8), (500_000, Write, 0, 1)],
        ),
    ];
    for (unit, text, expected) in cases {
        let (summary, rows) = read(text, |_| {});
        assert_eq!(
            (summary.format, summary.time_unit, rows.as_slice()),
            ("columns", *unit, *expected),
            "{text}"
        );
        assert!(
            summary
                .assumed
                .contains("columns as the heading names them (override: --set flow.0.format=columns")
        );
    }
    // A heading that agrees leaves a known format to its reader.
    for (format, text) in [
        ("tencent", "Timestamp,Offset,Size,IOType,VolumeID\n1538323200,512,128,0,1063\n"),
        ("spc", "ASU,LBA,Size,Opcode,Timestamp\n0,20,512,W,0.5\n"),
        ("alibaba", "device_id,opcode,offset,length,timestamp\n419,W,1048576,16384,1577808144360767\n"),
        ("biosnoop", "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.5 my app 7 sda W 8 4096 0.1\n"),
    ] {
        assert_eq!(read(text, |_| {}).0.format, format);
    }
}

#[test]
fn a_heading_that_contradicts_the_rows_is_refused() {
    assert_eq!(
        message("device,sector,size,op,offset,timestamp\n1,20,8,R,0,1000\n1,40,8,W,0,2000\n", |_| {}),
        "line 1: the rows look like spc, but by the heading column 5 is `offset`, which spc has as its time; try --set \
         flow.0.format=columns --set 'flow.0.columns=[\"device\",\"offset\",\"size\",\"op\",\"skip\",\"time\"]' --set \
         flow.0.separator=comma --set flow.0.address-unit=512B --set flow.0.size-unit=512B"
    );
}

#[test]
fn refusals_show_what_to_try_and_it_works() {
    let known = "specify its format with --set flow.0.format=NAME: ";
    for (text, tried) in [
        // No column gives the operation.
        (
            "LBA,IO_SIZE,TIME\n1024,8,0.0001\n2048,16,0.0003\n",
            "line 2: `1024,8,0.0001` matches no known format: no column says which requests are reads and which are \
             writes; try --set flow.0.format=columns --set 'flow.0.columns=[\"offset\",\"size\",\"time\"]' --set \
             flow.0.separator=comma --set flow.0.operation=read --set flow.0.address-unit=512B --set \
             flow.0.size-unit=512B (or write); ",
        ),
        // No heading: columns guessed from the numbers.
        (
            "1 0 48 W\n200 80 8 W\n15000 80 8 R\n",
            "line 1: `1 0 48 W` matches no known format; try --set flow.0.format=columns --set \
             'flow.0.columns=[\"time\",\"offset\",\"size\",\"op\"]' --set flow.0.separator=spaces --set \
             flow.0.address-unit=512B --set flow.0.size-unit=512B; ",
        ),
        (
            "W;4096;8192;0.5\nR;1048576;4096;1.25e0\n",
            "line 1: `W;4096;8192;0.5` matches no known format; try --set flow.0.format=columns --set \
             'flow.0.columns=[\"op\",\"offset\",\"size\",\"time\"]' --set flow.0.separator=semicolon; ",
        ),
        // A heading of ids of objects does not say their unit.
        (
            "time,obj_id,size,op\n1,77,4096,get\n2,9,512,set\n",
            "line 2: `1,77,4096,get` matches no known format: the heading does not say the unit of `obj_id`; try --set \
             flow.0.format=columns --set 'flow.0.columns=[\"time\",\"offset\",\"size\",\"op\"]' --set \
             flow.0.separator=comma --set flow.0.address-unit=512B --set flow.0.size-unit=1B; ",
        ),
    ] {
        let seen = message(text, |_| {});
        assert_eq!(seen.split(known).next(), Some(tried));
    }
    assert!(message("hello,\tworld\n", |_| {}).contains("matches no known format; specify its format"));
}

#[test]
fn faults_of_rows_and_layouts_are_named() {
    let columns = || layout("time op offset size");
    for (text, expected) in [
        ("0,r,0\n", "line 1: has 3 columns; legal: the columns time, op, offset, size, separator comma"),
        (
            "0,r,0,x\n",
            "line 1: `size` is `x`, which is not a number; legal: bytes, a whole number, 1 to 1073741312 (1 GiB less a sector)",
        ),
        (
            "0,r,0,0\n",
            "line 1: `size` is `0`, which is too small; legal: bytes, a whole number, 1 to 1073741312 (1 GiB less a sector)",
        ),
        (
            "0,r,0.5,512\n",
            "line 1: `offset` is `0.5`, which is not a whole number; legal: bytes, a whole number below 2^53 (8 PiB)",
        ),
        (
            "soon,r,0,512\n",
            "line 1: `time` is `soon`, which is not a number; legal: us, 0 or more, decimals allowed",
        ),
        (
            "0,q,0,512\n",
            "line 1: `op` is `q`, which is not an operation; legal: a read (r, read, ...) or a write (w, write, ...); for other words set read-words and write-words",
        ),
        (
            "0,r,0,8\n",
            "line 1: the sizes, at most 8, are too small for bytes; try --set flow.0.format=columns --set \
             'flow.0.columns=[\"time\",\"op\",\"offset\",\"size\"]' --set flow.0.separator=comma --set \
             flow.0.address-unit=512B --set flow.0.size-unit=512B",
        ),
    ] {
        assert_eq!(message(text, set(columns())), expected, "{text}");
    }
    assert_eq!(message("# nothing\n", set(columns())), "holds no rows");
    assert!(message("0,r,0,512\n", set(Columns::of(&[]))).starts_with(
        "line 1: no heading names the columns of the rows; try --set flow.0.format=columns --set 'flow.0.columns="
    ));
    let twice = "time,op,offset,size,lba\n0,r,0,512,0\n";
    assert!(message(twice, set(Columns::of(&[]))).contains("several columns for offset: `offset` and `lba`"));
    let short = "time,op,offset,size\n0,r,0,512,9\n";
    assert!(message(short, set(Columns::of(&[]))).contains("the heading names 4 columns and the row has 5"));
    let large = message("0,r,4398046511104,1\n", |spec| {
        spec.format = Format::Columns(columns());
        spec.address_unit = Some(Bytes(4096));
    });
    assert_eq!(
        large,
        "line 1: `address` is `4398046511104`, which is too large; legal: at most 2199023255551 of 4KiB"
    );
}

#[test]
fn units_of_other_formats_are_set() {
    let unit =
        |address, size| move |spec: &mut TraceSpec| (spec.address_unit, spec.size_unit) = (address, size);
    let kib4 = Some(Bytes(4096));
    let place = |text: &str, change: &dyn Fn(&mut TraceSpec)| {
        let (summary, rows) = read(text, |spec| change(spec));
        (rows[0].2, rows[0].3, summary.assumed)
    };
    let mqsim = "1000 0 3 2 1\n2000000 0 3 2 1\n";
    assert_eq!(place(mqsim, &unit(None, None)).0, 3);
    let (sector, sectors, assumed) = place(mqsim, &unit(kib4, None));
    assert_eq!((sector, sectors), (24, 16));
    assert!(assumed.ends_with("; addresses in units of 4KiB, sizes of 4KiB, as set"), "{assumed}");
    let spc = "0,3,4096,r,0.5\n0,3,4096,r,1.5\n";
    let (sector, sectors, _) = place(spc, &unit(kib4, None));
    assert_eq!((sector, sectors), (24, 8));
    let (sector, sectors, _) = place("0,0x10,2,r,0.5\n", &unit(None, kib4));
    assert_eq!((sector, sectors), (16, 16));
    let (sector, sectors, _) = place("128166372003061629,h,0,Read,3,2,9\n", &unit(kib4, Some(Bytes(512))));
    assert_eq!((sector, sectors), (24, 2));
}

#[test]
fn other_tools_are_read() {
    use Op::{Flush, Read, Trim, Write};
    let cases: &[(&str, &str, &[Asked])] = &[
        (
            "ftrace",
            "# tracer: nop\n#\n  kworker/0:1-77 [000] d... 12.123456: block_rq_issue: 8,16 WS 4096 () 64 + 8 [kworker/0:1]\n\
             \x20 my app-77 [000] d... 12.223456: block_rq_issue: 8,16 R 4096 () 72 + 16 none,0,0 [my app]\n\
             \x20 <idle>-0 [000] d... 12.3: block_rq_complete: 8,16 R () 72 + 16 [0]\n\
             \x20 x-7 [000] d... 12.4: block_rq_issue: 8,16 FF 0 () 0 + 0 [x]\n\
             \x20 x-7 [000] d... 12.4: block_rq_issue: 8,16 DS 4096 () 0 + 8 [x]\n",
            &[
                (0, Write, 64, 8),
                (100_000_000, Read, 72, 16),
                (276_544_000, Flush, 0, 0),
                (276_544_000, Trim, 0, 8),
            ],
        ),
        (
            "ftrace",
            "fio 4242 [003] 100.000001000: block:block_bio_queue: 259,0 WSM 128 + 8 [fio]\n\
             fio 4242 [003] 100.000002000: block:block_rq_issue: 259,0 WSM 4096 () 128 + 8 [fio]\n",
            &[(0, Write, 128, 8)],
        ),
        ("ftrace", " a-1 [001] 5.5: block_rq_complete: 8,0 RA () 0 + 8 [0]\n", &[(0, Read, 0, 8)]),
        (
            "biosnoop",
            "Tracing block device I/O... Hit Ctrl-C to end.\nTIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n\
             0.000004    supervise      1950   xvda1   W 64   4096       0.74\n\
             0.000178    Web Content 7  1950   xvda1   R 72 8192 0.01 0.61\n0.0002 sync 3 xvda1 F 0 0 0.2\n",
            &[(0, Write, 64, 8), (174_000, Read, 72, 16), (196_000, Flush, 0, 0)],
        ),
        (
            "mqsim",
            "0.000000e+00 0 0 8 0\n1.500000e+06 0 8 8 1\n",
            &[(0, Write, 0, 8), (1_500_000, Read, 8, 8)],
        ),
        ("ascii", "1.5e-05 0 0x10 8 1\n3e-05 0 0 8 0\n", &[(0, Read, 16, 8), (15_000, Write, 0, 8)]),
    ];
    for (format, text, expected) in cases {
        let (summary, rows) = read(text, |_| {});
        assert_eq!((summary.format, rows.as_slice()), (*format, *expected), "{text}");
    }
    assert_eq!(
        message(" a-1 [001] 5.5: block_rq_complete: 8:0 RA () 0 + 8 [0]\n", |spec| {
            spec.format =
                Format::Ftrace(interpulse_workload::Ftrace { event: interpulse_workload::Event::Completed });
        }),
        "line 1: `device` is `8:0`, which is not a pair of numbers; legal: major and minor number, a comma between them"
    );
    assert_eq!(
        message("0.1 a 7 sda W 64\n", |spec| spec.format = Format::Biosnoop),
        "line 1: has 6 columns; legal: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)"
    );
}

/// A rate that is too low for the documented unit is reported with a plausible unit.
#[test]
fn low_rates_are_reported() {
    let (summary, _) = read("0,0,512,r,0\n0,0,512,r,900\n0,0,512,r,1800\n", |_| {});
    assert_eq!(
        summary.assumed,
        "times in s, although this results in 1.1e-3 requests per second (override: --set flow.0.time-unit=ms)"
    );
}
