//! `blkparse` format: text output of blkparse, `major,minor cpu number time pid action operation sector + sectors
//! [process]`; time in seconds. A request has one line per event; lines of the selected event are replayed. Discards,
//! flushes, other events and the final summary are ignored.

use super::{Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, decimal};
use crate::trace::columns::blanks;
use crate::trace::number::{device, length_sectors, sector};
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

impl TraceFormat for Blkparse {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        // The summary starts with words or indented lines.
        if !line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let [place, _, _, time, _, action, operation] = blanks(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::S)?;
        let Some((major, minor)) = place.split_once(',') else {
            return Err(RowFault::field("device", place, "not a pair of numbers", DEVICE));
        };
        device("device", major)?;
        let minor = device("device", minor)?;
        let op = match operation {
            _ if action != self.event.action() || operation.contains('D') => return Ok(None),
            _ if operation.contains('R') => Op::Read,
            _ if operation.contains('W') => Op::Write,
            _ => return Ok(None),
        };
        let mut place = line.split_ascii_whitespace().skip(7);
        let (Some(start), Some("+"), Some(length)) = (place.next(), place.next(), place.next()) else {
            // Flush recorded as a write without sectors.
            return Ok(None);
        };
        Ok(Some(ParsedRow {
            time,
            host: major,
            device: minor,
            op,
            sector: sector("sector", start)?,
            sectors: length_sectors("sectors", length)?,
        }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let Request { op, sector, sectors } = request;
        let (time, action) = (decimal(at_ns, 9), self.event.action());
        let operation = if op == Op::Read { 'R' } else { 'W' };
        writeln!(out, "  8,{device} 0 1 {time} 1 {action} {operation} {sector} + {sectors} [gen]")
    }

    fn variants(&self) -> Vec<Format> {
        [Event::Issued, Event::Completed].map(|event| Format::Blkparse(Blkparse { event })).into()
    }
}
