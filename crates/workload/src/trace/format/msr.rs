//! `msr`: MSR Cambridge CSV, `FILETIME,host,disk,Type,offset,size,response`; time in 100 ns since 1601, Type `Read` or
//! `Write`, offset and size in bytes (widened to whole sectors). The response is checked to be a number and ignored. The
//! usual header line is accepted as first row. A first row with seven columns between commas, with `Read` or `Write` in
//! the fourth, has this format.

use super::{ParsedRow, RowFault, TraceFormat};
use interpulse_engine::{Op, Request, SECTOR};
use crate::trace::number::{Column, device, length_bytes, offset_bytes};
use crate::trace::row::widen;
use std::io::{self, Write};

/// FILETIME counts 100 ns.
const TICK_NS: u64 = 100;
const COLUMNS: &str = "7 columns between commas: time,host,disk,Type,offset,size,response";
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

/// Host name in generated MSR rows.
const HOST: &str = "gen";
/// FILETIME (100 ns since 1601) of time zero in generated MSR rows; lies in the year 2007.
const FILETIME_ZERO: u64 = 128_166_400_000_000_000;

/// Rows of this format.
pub struct Msr;

/// The operation named by the fourth column.
fn op(text: &str) -> Option<Op> {
    if text.eq_ignore_ascii_case("read") {
        Some(Op::Read)
    } else if text.eq_ignore_ascii_case("write") {
        Some(Op::Write)
    } else {
        None
    }
}

impl TraceFormat for Msr {
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
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

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let time = FILETIME_ZERO + at_ns / TICK_NS;
        let kind = if request.op == Op::Read { "Read" } else { "Write" };
        let (offset, size) = (request.sector * SECTOR.get(), request.bytes().get());
        writeln!(out, "{time},{HOST},{device},{kind},{offset},{size},0")
    }

    fn is_header(&self, line: &str) -> bool {
        line.trim().eq_ignore_ascii_case(HEADER)
    }

    fn recognises(&self, row: &str) -> bool {
        let fourth = row.split(',').nth(3).map_or("", str::trim);
        self.is_header(row) || row.split(',').count() == 7 && op(fourth).is_some()
    }
}
