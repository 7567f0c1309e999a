//! `fio` format: I/O log of fio, version 3, `time file action offset length`, separated by blanks, after a version
//! line; time in us, offset and length in bytes (widened to whole sectors). Each file is a device. Actions other than
//! `read` and `write` are ignored.

use super::{Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat};
use crate::trace::columns::blanks;
use crate::trace::number::{length_bytes, offset_bytes};
use crate::trace::row::widen;
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between blanks: time file action offset length";
const ACTIONS: &str = "add, open, close, read, write, trim, sync, datasync or wait";

pub struct Fio;

impl TraceFormat for Fio {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [time, host, action] = blanks(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::Us)?;
        let op = match action {
            "read" => Op::Read,
            "write" => Op::Write,
            "add" | "open" | "close" | "trim" | "sync" | "datasync" | "wait" => return Ok(None),
            _ => return Err(RowFault::field("action", action, "not an action", ACTIONS)),
        };
        let [_, _, _, offset, length] = blanks(line, COLUMNS)?;
        let (sector, sectors) = widen(offset_bytes("offset", offset)?, length_bytes("length", length)?);
        Ok(Some(ParsedRow { time, host, device: 0, op, sector, sectors: sectors as u32 }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let action = if request.op == Op::Read { "read" } else { "write" };
        let (offset, length) = (request.sector * SECTOR.get(), request.bytes().get());
        writeln!(out, "{} /dev/gen{device} {action} {offset} {length}", at_ns / TimeUnit::Us.ns())
    }

    fn is_header(&self, line: &str) -> bool {
        line.trim() == "fio version 3 iolog"
    }
}
