//! `fio` format: I/O log of fio, version 3, `time file action offset length`, separated by blanks, after a version
//! line; time in us, offset and length in bytes (widened to whole sectors, narrowed for a trim). Each file is a device.
//! `sync` and `datasync` flush; actions on files are ignored.

use super::{ALL_OPS, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::columns::blanks;
use crate::trace::device::DeviceKey;
use crate::trace::number::{discard_bytes, length_bytes, offset_bytes};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between blanks: time file action offset length";
/// First line of a log of version 2.
pub(super) const HEADER_V2: &str = "fio version 2 iolog";
const HEADER_V3: &str = "fio version 3 iolog";
pub(super) const ACTIONS: &str = "add, open, close, read, write, trim, sync, datasync or wait";

pub struct Fio;

/// Request of an action; `None` for an action that is no request. `place` splits offset and length off the line.
pub(super) fn request<'l>(
    time: Stamp<'l>,
    host: &'l str,
    action: &'l str,
    place: impl FnOnce() -> Result<[&'l str; 2], RowFault>,
) -> Parsed<'l> {
    let op = match action {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Trim,
        "sync" | "datasync" => return Ok(Some(ParsedRow::flush(time, host, 0))),
        "add" | "open" | "close" | "wait" => return Ok(None),
        _ => return Err(RowFault::field("action", action, "not an action", ACTIONS)),
    };
    let [offset, length] = place()?;
    let offset = offset_bytes("offset", offset)?;
    let size = if op == Op::Trim { discard_bytes("length", length)? } else { length_bytes("length", length)? };
    Ok(Some(ParsedRow {
        time,
        host,
        device: 0,
        op,
        offset,
        size,
        flush: WithFlush::None,
    }))
}

/// Path of the file of a device.
pub(super) fn file(host: &str, device: u32) -> String {
    if host.is_empty() { format!("/dev/gen{device}") } else { DeviceKey { host: host.to_owned(), number: device }.name() }
}

/// Whether a path can be written between blanks.
pub(super) fn is_path(host: &str) -> bool {
    !host.contains(char::is_whitespace)
}

/// Writes file, action, offset and length.
pub(super) fn write_action(out: &mut dyn Write, file: &str, request: Request) -> io::Result<()> {
    let (offset, length) = (request.sector * SECTOR.get(), request.bytes().get());
    let action = match request.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "sync",
        Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
    };
    writeln!(out, "{file} {action} {offset} {length}")
}

impl TraceFormat for Fio {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::BYTES;
    const OPS: &'static [Op] = ALL_OPS;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        if line.trim() == HEADER_V2 {
            let legal = "version 3, or format = fio-v2 with pacing = closed";
            return Err(RowFault::field("log", line.trim(), "a version without times", legal));
        }
        let [time, host, action] = blanks(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::Us)?;
        request(time, host, action, || blanks::<5>(line, COLUMNS).map(|[_, _, _, offset, length]| [offset, length]))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        self.write_named(out, at_ns, "", device, request)
    }

    fn holds_host(&self, host: &str) -> bool {
        is_path(host)
    }

    fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        write!(out, "{} ", at_ns / TimeUnit::Us.ns())?;
        write_action(out, &file(host, device), request)
    }

    /// fio replays only files that were added and opened.
    fn write_heading(&self, out: &mut dyn Write, devices: &[(&str, u32)]) -> io::Result<()> {
        writeln!(out, "{HEADER_V3}")?;
        for action in ["add", "open"] {
            for &(host, device) in devices {
                writeln!(out, "0 {} {action}", file(host, device))?;
            }
        }
        Ok(())
    }

    fn is_header(&self, line: &str) -> bool {
        line.trim() == HEADER_V3
    }
}
