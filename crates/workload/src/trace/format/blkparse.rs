//! `blkparse` format: text output of blkparse, `major,minor cpu number time pid action operation sector + sectors
//! [process]`; time in seconds. A request has one line per event; lines of the selected event are replayed. Other
//! events and the final summary are ignored; rows of action `A` name the mapping of stacked devices.

use super::rwbs::Rwbs;
use super::{
    ALL_OPS, Directive, Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, WithFlush, decimal,
};
use crate::trace::columns::blanks;
use crate::trace::number::{device, discard_sectors, sector_length, sector_offset};
use interpulse_engine::{Op, Request};
use interpulse_settings::{ConfigError, Section, choices};
use std::io::{self, Write};

const COLUMNS: &str = "10 columns between blanks: device cpu number time pid action operation sector + sectors";
const DEVICE: &str = "major and minor number, a comma between them";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blkparse {
    /// Event whose lines are requests.
    pub event: Event,
}

choices! {
    /// Event in the life of a request.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Event {
        /// action Q: the block layer receives the request
        Queued = "queued",
        /// action D: the driver receives the request, after merging and scheduling
        Issued = "issued",
        /// action C: the request completes
        Completed = "completed",
    }
}

impl Event {
    fn action(self) -> &'static str {
        match self {
            Event::Queued => "Q",
            Event::Issued => "D",
            Event::Completed => "C",
        }
    }
}

impl Blkparse {
    pub(super) fn read(s: &mut Section) -> Result<Blkparse, ConfigError> {
        let event = s.choice("event", "event whose lines are requests", Some("queued"), Event::ALL)?;
        Ok(Blkparse { event })
    }
}

/// Major and minor number of a device.
fn device_pair(text: &str) -> Result<(&str, u32), RowFault> {
    let Some((major, minor)) = text.split_once(',') else {
        return Err(RowFault::field("device", text, "not a pair of numbers", DEVICE));
    };
    device("device", major)?;
    Ok((major, device("device", minor)?))
}

impl TraceFormat for Blkparse {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);

    const OPS: &'static [Op] = ALL_OPS;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        // The summary starts with words or indented lines.
        if !line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let [place, _, _, time, _, action, operation] = blanks(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::S)?;
        let (host, device) = device_pair(place)?;
        if action != self.event.action() {
            return Ok(None);
        }
        let Rwbs { op, flush } = Rwbs::parse(operation);
        let Some(op) = op else { return Ok(None) };
        let flushes = op == Op::Flush || flush != WithFlush::None;
        let may_be_empty = flushes || op == Op::Trim;
        let mut place = line.split_ascii_whitespace().skip(7);
        let (start, length) = match (place.next(), place.next(), place.next()) {
            (Some(start), Some("+"), Some(length)) if op != Op::Flush && !(may_be_empty && length == "0") => {
                (start, length)
            }
            // A flush has no sectors; older kernels record it as a write without sectors.
            _ if flushes => return Ok(Some(ParsedRow::flush(time, host, device))),
            _ => return Ok(None),
        };
        let sectors = if op == Op::Trim { discard_sectors } else { sector_length };
        Ok(Some(ParsedRow {
            time,
            host,
            device,
            op,
            offset: sector_offset("sector", start)?,
            size: sectors("sectors", length)?,
            flush,
        }))
    }

    /// Rows of action `A`: `sector + sectors <- (major,minor) sector` remaps a request of the device in parentheses.
    fn directive<'l>(&self, line: &'l str) -> Result<Option<Directive<'l>>, RowFault> {
        let mut columns = line.split_ascii_whitespace();
        let Some(place) = columns.next() else { return Ok(None) };
        if columns.nth(4) != Some("A") {
            return Ok(None);
        }
        let from = columns.skip_while(|&column| column != "<-").nth(1);
        let from = from.and_then(|from| from.strip_prefix('(')?.strip_suffix(')'));
        let legal = "sector + sectors <- (major,minor) sector";
        let from = from.ok_or_else(|| RowFault::field("remap", line.trim(), "without a source", legal))?;
        Ok(Some(Directive::Remap { from: device_pair(from)?, to: device_pair(place)? }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        self.write_named(out, at_ns, "8", device, request)
    }

    /// The host of a device is its major number.
    fn holds_host(&self, host: &str) -> bool {
        host.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        let major = if host.is_empty() { "8" } else { host };
        let Request { op, sector, sectors, .. } = request;
        let (time, action) = (decimal(at_ns, 9), self.event.action());
        let operation = match op {
            Op::Read => "R",
            Op::Write => "W",
            Op::Trim => "D",
            Op::Flush => return writeln!(out, "  {major},{device} 0 1 {time} 1 {action} FN [gen]"),
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
        };
        writeln!(out, "  {major},{device} 0 1 {time} 1 {action} {operation} {sector} + {sectors} [gen]")
    }

    fn variants(&self) -> Vec<Format> {
        [Event::Issued, Event::Completed].map(|event| Format::Blkparse(Blkparse { event })).into()
    }
}
