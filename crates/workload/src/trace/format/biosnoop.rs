//! `biosnoop` format: output of `biosnoop` of bcc and libbpf-tools, `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`,
//! between blanks; the time, at the completion of a request, in seconds, the sector in 512 B, the type `R` or `W` with
//! further flags, `D` or `F`. The name of the process may contain blanks. Other types are ignored.

use super::rwbs::Rwbs;
use super::{ALL_OPS, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, decimal, WithFlush};
use crate::trace::number::{discard_bytes, length_bytes, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)";

pub struct Biosnoop;

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word holds flags of the block layer.
fn is_type(word: &str) -> bool {
    (1..=5).contains(&word.len()) && word.bytes().all(|byte| b"RWDFSAMN".contains(&byte))
}

impl TraceFormat for Biosnoop {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::SECTORS_AND_BYTES;

    const OPS: &'static [Op] = ALL_OPS;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let mut words = [""; 32];
        let mut found = 0;
        for (at, word) in words.iter_mut().zip(line.split_ascii_whitespace()) {
            (*at, found) = (word, found + 1);
        }
        let words = &words[..found];
        // pid, disk, type, sector, bytes; the last such place, because a process may have any name.
        let columns = (2..found.saturating_sub(4)).rev().find(|&at| {
            is_whole(words[at]) && is_type(words[at + 2]) && is_whole(words[at + 3]) && is_whole(words[at + 4])
        });
        let Some(at) = columns else { return Err(RowFault::Columns { found, legal: COLUMNS.into() }) };
        let time = Stamp::text(words[0], TimeUnit::S)?;
        let kind = words[at + 2];
        let host = words[at + 1];
        let Rwbs { op, flush } = Rwbs::parse(kind);
        let Some(op) = op else { return Ok(None) };
        if op == Op::Flush || flush != WithFlush::None && words[at + 4] == "0" {
            return Ok(Some(ParsedRow::flush(time, host, 0)));
        }
        let bytes = if op == Op::Trim { discard_bytes } else { length_bytes };
        let (offset, size) = (sector_offset("SECTOR", words[at + 3])?, bytes("BYTES", words[at + 4])?);
        Ok(Some(ParsedRow { time, host, device: 0, op, offset, size, flush }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let kind = match request.op {
            Op::Read => 'R',
            Op::Write => 'W',
            Op::Trim => 'D',
            Op::Flush => 'F',
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
        };
        let (sector, bytes) = (request.sector, request.bytes().get());
        writeln!(out, "{} gen 1 gen{device} {kind} {sector} {bytes} 0.00", decimal(at_ns, 9))
    }
}
