//! Traces of caches: blocks and objects in place of addresses.

use crate::common::{ROOMY, drain, file, open, trace_message};
use interpulse_engine::{Bytes, Op};
use interpulse_workload::{Format, Operation, OracleGeneral, TraceSpec};

fn record(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
    [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
}

fn spec(name: &str, bytes: &[u8], operation: Operation, unit: u64) -> TraceSpec {
    let format = Format::OracleGeneral(OracleGeneral { operation });
    TraceSpec { format, address_unit: Some(Bytes(unit)), ..TraceSpec::new(file(name, bytes)) }
}

#[test]
fn objects_are_addresses_in_the_given_unit() {
    let bytes = [record(7, 3, 4096, 2), record(7, 9, 0, -1), record(10, 1 << 20, 513, -1)].concat();
    for (operation, op) in [(Operation::Read, Op::Read), (Operation::Write, Op::Write)] {
        let mut flow = open(spec("objects", &bytes, operation, 4096), ROOMY).unwrap();
        let seen: Vec<_> =
            drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
        assert_eq!(seen, [(0, op, 24, 8), (3_000_000_000, op, 8 << 20, 2)]);
    }
}

#[test]
fn hashes_foreign_records_and_half_records_are_refused() {
    let message = |bytes: &[u8], unit| trace_message(spec("wrong", bytes, Operation::Read, unit), ROOMY);
    assert_eq!(
        message(&record(1, u64::MAX / 3, 512, 1), 512),
        "record 1: `object` is `6148914691236517205`, which is too large; legal: below 2^44; objects that are hashes have \
         no addresses"
    );
    assert_eq!(
        message(&record(1, 2, 512, -2), 512),
        "record 1: `next` is `-2`, which is negative; legal: the number of a request, or -1 (records of 24 bytes of \
         oracleGeneral)"
    );
    assert_eq!(
        message(&record(1, 1 << 43, 512, 5), 4096),
        "record 1: `address` is `8796093022208`, which is too large; legal: at most 2199023255551 of 4KiB"
    );
    let half = [record(1, 2, 512, 5), vec![0; 11]].concat();
    assert!(message(&half, 512).contains("record 2"), "{}", message(&half, 512));
}

/// The content identifies nothing; the end of the name says what is missing.
#[test]
fn what_the_records_do_not_hold_must_be_given() {
    let bytes = [record(1, 2, 4096, 5), record(2, 3, 4096, 5)].concat();
    let auto = |name: &str| trace_message(TraceSpec::new(file(name, &bytes)), ROOMY);
    assert_eq!(
        auto("t.oracleGeneral"),
        "is by its name a file of the format oraclegeneral, whose records have no operations and no addresses; give \
         them: --set flow.0.format=oraclegeneral --set flow.0.operation=read (or write) --set flow.0.address-unit=4KiB \
         (bytes from one object to the next)"
    );
    assert!(!auto("unnamed").contains("oraclegeneral,"), "{}", auto("unnamed"));
}

#[test]
fn a_block_ends_where_the_next_begins() {
    let baleen = |row: &str| {
        trace_message(
            TraceSpec { format: Format::Baleen, ..TraceSpec::new(file("b", row.as_bytes())) },
            ROOMY,
        )
    };
    assert_eq!(
        baleen("3 8388608 512 1.5 1 2 3 4\n"),
        "line 1: `io_offset` is `8388608`, which is too large; legal: bytes within a block, 0 to 8388607"
    );
    assert_eq!(
        baleen("3 0 512 1.5 7 2 3 4\n"),
        "line 1: `op_name` is `7`, which is not an operation; legal: 1, 2, 5 (GET), 3, 4, 6 (PUT) or 100 (unknown)"
    );
    assert!(baleen("3 0 512 1.5 1 2 3\n").contains("8 columns or more"));
    let unit =
        TraceSpec { address_unit: Some(Bytes(4096)), ..TraceSpec::new(file("u", b"3 0 512 1.5 1 2 3 4\n")) };
    assert_eq!(
        trace_message(unit, ROOMY),
        "the format baleen has addresses of several columns; legal: leave out --set flow.0.address-unit"
    );
    let shards = "3 0 512 1.5 1 2 3 0 1 9\n3 0 512 1.6 1 2 3 4 1 9\n";
    let flow =
        open(TraceSpec { format: Format::Baleen, ..TraceSpec::new(file("s", shards.as_bytes())) }, ROOMY);
    let devices: Vec<_> = flow.unwrap().trace_summary().unwrap().devices.iter().map(|d| d.number).collect();
    assert_eq!(devices, [0, 4]);
}
