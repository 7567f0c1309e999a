//! `ascii`: `time device lba sectors type` between blanks, LBA in 512 B sectors: the family of DiskSim, SSDSim and MQSim.
//! Nothing in a file tells its time unit and type code.

use super::{ParsedRow, RowFault, TraceFormat, decimal};
use interpulse_engine::{Op, Request};
use crate::trace::number::{Column, device, length_sectors, sector};
use interpulse_settings::{ConfigError, Section, required};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between blanks: time device lba sectors type";

/// Rows of this format.
pub type Ascii = AsciiLayout;

/// What the ascii family leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsciiLayout {
    /// Unit of the time column.
    pub time: TimeUnit,
    /// Meaning of the type column.
    pub types: TypeCode,
}

/// Unit of a time column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// Whole nanoseconds.
    Ns,
    /// Microseconds, decimals allowed.
    Us,
    /// Milliseconds, decimals allowed.
    Ms,
}

/// Which of 0 and 1 in the type column is a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeCode {
    /// 0 = write, 1 = read.
    ZeroWrites,
    /// 0 = read, 1 = write.
    OneWrites,
}

impl AsciiLayout {
    /// The layout that the simulators' own names stand for.
    pub(super) const fn of(time: TimeUnit) -> AsciiLayout {
        AsciiLayout { time, types: TypeCode::ZeroWrites }
    }

    pub(super) fn read(s: &mut Section) -> Result<AsciiLayout, ConfigError> {
        let units = [
            ("ns", TimeUnit::Ns, "whole nanoseconds"),
            ("us", TimeUnit::Us, "microseconds, decimals allowed"),
            ("ms", TimeUnit::Ms, "milliseconds, decimals allowed"),
        ];
        let time = s.choice("time-unit", "unit of the first column", None, &units)?;
        let types = match s.u32("writes-are", "type code of a write, 0 or 1", required().within(0..=1))? {
            0 => TypeCode::ZeroWrites,
            _ => TypeCode::OneWrites,
        };
        Ok(AsciiLayout { time, types })
    }
}

impl TraceFormat for AsciiLayout {
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
        let mut columns = [""; 5];
        let mut found = 0;
        for column in line.split_ascii_whitespace() {
            if let Some(place) = columns.get_mut(found) {
                *place = column;
            }
            found += 1;
        }
        if found != columns.len() {
            return Err(RowFault::Columns { found, legal: COLUMNS });
        }
        let [time, number, lba, length, kind] = columns;
        let (unit_ns, legal) = match self.time {
            TimeUnit::Ns => (1, "ns, a whole number (for decimals, name a format in us or ms)"),
            TimeUnit::Us => (1_000, "us, 0 or more, decimals allowed"),
            TimeUnit::Ms => (1_000_000, "ms, 0 or more, decimals allowed"),
        };
        let time = Column { name: "time", text: time, legal };
        let time_ns = time.time_ns(unit_ns)?;
        let device = device("device", number)?;
        let sector = sector("lba", lba)?;
        let sectors = length_sectors("sectors", length)?;
        let (zero, one, legal) = match self.types {
            TypeCode::ZeroWrites => (Op::Write, Op::Read, "0 (write) or 1 (read)"),
            TypeCode::OneWrites => (Op::Read, Op::Write, "0 (read) or 1 (write)"),
        };
        let op = match kind {
            "0" => zero,
            "1" => one,
            _ => return Err(RowFault::field("type", kind, "no operation", legal)),
        };
        Ok(ParsedRow { time_ns, host: "", device, op, sector, sectors })
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let time = match self.time {
            TimeUnit::Ns => at_ns.to_string(),
            TimeUnit::Us => decimal(at_ns, 3),
            TimeUnit::Ms => decimal(at_ns, 6),
        };
        let one = match self.types {
            TypeCode::ZeroWrites => Op::Read,
            TypeCode::OneWrites => Op::Write,
        };
        let Request { op, sector, sectors } = request;
        writeln!(out, "{time} {device} {sector} {sectors} {}", u8::from(op == one))
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn recognises(&self, row: &str) -> bool {
        !row.contains(',') && row.split_ascii_whitespace().count() == 5
    }
}
