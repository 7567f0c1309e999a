//! `xperf` format: rows `DiskRead` and `DiskWrite` of an xperf dump, as in the Microsoft production server traces:
//! `event, time, process, thread, irp, offset, size, elapsed, disk` and further columns; time in us, offset and size
//! in bytes, hexadecimal with `0x`. Other rows and the preamble are ignored.

use super::{Parsed, ParsedRow, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{device, length_bytes, offset_bytes};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str =
    "at least 9 columns between commas: event, time, process, thread, irp, offset, size, elapsed, disk";

pub struct Xperf;

impl TraceFormat for Xperf {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let op = match line.split(',').next().map(str::trim) {
            Some("DiskRead") => Op::Read,
            Some("DiskWrite") => Op::Write,
            _ => return Ok(None),
        };
        let [_, time, _, _, _, offset, size, _, disk] = commas(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::Us)?;
        let device = device("disk", disk)?;
        let (offset, size) = (offset_bytes("offset", offset)?, length_bytes("size", size)?);
        Ok(Some(ParsedRow { time, host: "", device, op, offset, size, flush: WithFlush::None }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let event = if request.op == Op::Read { "DiskRead" } else { "DiskWrite" };
        let (offset, size) = (request.sector * SECTOR.get(), request.bytes().get());
        let time = at_ns / TimeUnit::Us.ns();
        writeln!(out, "{event}, {time}, gen ( 1), 1, 0x1, {offset:#x}, {size:#010x}, 0, {device}")
    }
}
