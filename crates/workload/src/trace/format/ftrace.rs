//! `ftrace` format: block events in the text of ftrace, `trace-cmd report` or `perf script`,
//! `process-pid [cpu] flags time: EVENT: major,minor flags ... sector + sectors [process]`; time in seconds. A request
//! has one line per event; lines of the selected event are replayed and all other lines are ignored.

use super::rwbs::Rwbs;
use super::{ALL_OPS, Event, Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, decimal, WithFlush};
use crate::trace::number::{device, discard_sectors, sector_length, sector_offset};
use interpulse_engine::{Op, Request};
use interpulse_settings::{ConfigError, Section};
use std::io::{self, Write};

const COLUMNS: &str = "process-pid [cpu] flags time: event: major,minor flags bytes () sector + sectors [process]";
const DEVICE: &str = "major and minor number, a comma between them";

/// Parameters of the `ftrace` format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ftrace {
    /// Event whose lines are requests.
    pub event: Event,
}

impl Ftrace {
    pub(super) fn read(s: &mut Section) -> Result<Ftrace, ConfigError> {
        let event = s.choice("event", "event whose lines are requests", Some("queued"), Event::ALL)?;
        Ok(Ftrace { event })
    }

    fn name(self) -> &'static str {
        match self.event {
            Event::Queued => "block_bio_queue",
            Event::Issued => "block_rq_issue",
            Event::Completed => "block_rq_complete",
        }
    }
}

/// Text before and after `event: `; `perf` writes `block:` before the name.
fn around<'l>(line: &'l str, event: &str) -> Option<(&'l str, &'l str)> {
    let at = line.find(event)?;
    let after = line[at + event.len()..].strip_prefix(':')?;
    let before = line[..at].strip_suffix("block:").unwrap_or(&line[..at]);
    Some((before.trim_end().strip_suffix(':')?, after))
}

impl TraceFormat for Ftrace {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);

    const OPS: &'static [Op] = ALL_OPS;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let Some((before, after)) = around(line, self.name()) else { return Ok(None) };
        let columns = |found| RowFault::Columns { found, legal: COLUMNS.into() };
        let time = before.split_ascii_whitespace().next_back().ok_or_else(|| columns(0))?;
        let time = Stamp::text(time, TimeUnit::S)?;
        let mut words = after.split_ascii_whitespace();
        let (Some(place), Some(flags)) = (words.next(), words.next()) else { return Err(columns(2)) };
        let (major, minor) = place
            .split_once(',')
            .ok_or_else(|| RowFault::field("device", place, "not a pair of numbers", DEVICE))?;
        device("device", major)?;
        let minor = device("device", minor)?;
        let Rwbs { op, flush } = Rwbs::parse(flags);
        let Some(op) = op else { return Ok(None) };
        let (mut start, mut length) = ("", "");
        let mut before = "";
        while let Some(word) = words.next() {
            if word == "+" {
                (start, length) = (before, words.next().unwrap_or_default());
                break;
            }
            before = word;
        }
        if length.is_empty() {
            return Err(columns(after.split_ascii_whitespace().count()));
        }
        if op == Op::Flush || flush != WithFlush::None && length == "0" {
            // Older kernels record a flush as a write without sectors.
            return Ok(Some(ParsedRow::flush(time, major, minor)));
        }
        let sectors = if op == Op::Trim { discard_sectors } else { sector_length };
        let (offset, size) = (sector_offset("sector", start)?, sectors("sectors", length)?);
        Ok(Some(ParsedRow { time, host: major, device: minor, op, offset, size, flush }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let Request { op, sector, sectors, .. } = request;
        let flags = match op {
            Op::Read => "R",
            Op::Write => "W",
            Op::Trim => "D",
            Op::Flush => "FF",
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
        };
        // The three events differ in what precedes the sector.
        let bytes = match self.event {
            Event::Queued => String::new(),
            Event::Issued => format!("{} () ", request.bytes().get()),
            Event::Completed => "() ".to_owned(),
        };
        let (time, event) = (decimal(at_ns, 9), self.name());
        writeln!(out, "  gen-1  [000] d..1. {time}: {event}: 8,{device} {flags} {bytes}{sector} + {sectors} [gen]")
    }

    fn recognises(&self, line: &str) -> bool {
        around(line, self.name()).is_some()
    }

    fn variants(&self) -> Vec<Format> {
        [Event::Issued, Event::Completed].map(|event| Format::Ftrace(Ftrace { event })).into()
    }
}
