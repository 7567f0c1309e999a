//! MSR Cambridge CSV rows.

use super::number::{Column, device, length_bytes, offset_bytes};
use super::problem::RowFault;
use super::row::{ParsedRow, widen};
use interpulse_engine::Op;

/// FILETIME counts 100 ns.
const TICK_NS: u64 = 100;
const COLUMNS: &str = "7 columns between commas: time,host,disk,Type,offset,size,response";
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

/// Whether this is the header line that some copies carry.
pub(super) fn is_header(line: &str) -> bool {
    line.trim().eq_ignore_ascii_case(HEADER)
}

/// The operation named by the fourth column.
pub(super) fn op(text: &str) -> Option<Op> {
    if text.eq_ignore_ascii_case("read") {
        Some(Op::Read)
    } else if text.eq_ignore_ascii_case("write") {
        Some(Op::Write)
    } else {
        None
    }
}

pub(super) fn parse(line: &str) -> Result<ParsedRow<'_>, RowFault> {
    let mut columns = [""; 7];
    let mut found = 0;
    for column in line.split(',') {
        if let Some(place) = columns.get_mut(found) {
            *place = column.trim();
        }
        found += 1;
    }
    if found != columns.len() {
        return Err(RowFault::Columns { found, legal: COLUMNS });
    }
    let [time, host, disk, kind, offset, size, response] = columns;
    let time = Column {
        name: "time",
        text: time,
        legal: "100 ns ticks since 1601, a whole number below 2^64 / 100",
    };
    let response = Column { name: "response", text: response, legal: "100 ns ticks, a whole number" };
    let row_time = time.whole(0, u64::MAX / TICK_NS)? * TICK_NS;
    let device = device("disk", disk)?;
    let op = op(kind).ok_or_else(|| RowFault::field("Type", kind, "no operation", "Read or Write"))?;
    let (sector, sectors) = widen(offset_bytes("offset", offset)?, length_bytes("size", size)?);
    response.whole(0, u64::MAX)?;
    Ok(ParsedRow { time_ns: row_time, host, device, op, sector, sectors: sectors as u32 })
}
