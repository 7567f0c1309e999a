//! `ascii` format: `time device lba sectors type`, separated by blanks, LBA in 512 B sectors. Same columns as
//! DiskSim, SSDSim and MQSim, for files with another time unit or type code. A file does not identify its type code.

use super::{Parsed, ParsedRow, Role, RowFault, Stamp, TimeUnit, TraceFormat, decimal, WithFlush};
use crate::trace::columns::blanks;
use crate::trace::number::{device, sector_length, sector_offset};
use interpulse_engine::{Op, Request};
use interpulse_settings::{ConfigError, Section, required};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between blanks: time device lba sectors type";

pub type Ascii = AsciiLayout;

/// Parameters of the `ascii` formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsciiLayout {
    /// Meaning of the type column.
    pub types: TypeCode,
}

/// Meaning of 0 and 1 in the type column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeCode {
    /// 0 = write, 1 = read.
    ZeroWrites,
    /// 0 = read, 1 = write.
    OneWrites,
}

impl AsciiLayout {
    /// Layout of the formats named after simulators.
    pub(in crate::trace) const OF_SIMULATORS: AsciiLayout = AsciiLayout { types: TypeCode::ZeroWrites };

    /// Columns of these formats.
    pub(super) const ROLES: &'static [Role] = &[Role::Time, Role::Device, Role::Offset, Role::Size, Role::Op];

    pub(super) fn read(s: &mut Section) -> Result<AsciiLayout, ConfigError> {
        let types = match s.u32("writes-are", "type code of a write, 0 or 1", required().within(0..=1))? {
            0 => TypeCode::ZeroWrites,
            _ => TypeCode::OneWrites,
        };
        Ok(AsciiLayout { types })
    }

    /// Parses a row; `other` parses type columns other than 0 and 1.
    pub(super) fn parse_with<'l>(
        &self,
        line: &'l str,
        other: impl Fn(&str) -> Result<Op, RowFault>,
    ) -> Parsed<'l> {
        let [time, number, lba, length, kind] = blanks(line, COLUMNS)?;
        let (zero, one) = match self.types {
            TypeCode::ZeroWrites => (Op::Write, Op::Read),
            TypeCode::OneWrites => (Op::Read, Op::Write),
        };
        Ok(Some(ParsedRow {
            time: Stamp::text(time, TimeUnit::Ns)?,
            host: "",
            device: device("device", number)?,
            offset: sector_offset("lba", lba)?,
            size: sector_length("sectors", length)?,
            flush: WithFlush::None,
            op: match kind {
                "0" => zero,
                "1" => one,
                _ => other(kind)?,
            },
        }))
    }

    /// Writes a row with its time in `unit`.
    pub(super) fn write_in(
        &self,
        unit: TimeUnit,
        out: &mut dyn Write,
        at_ns: u64,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        let time = match unit {
            TimeUnit::Ns => at_ns.to_string(),
            _ => decimal(at_ns, unit.ns().ilog10() as usize),
        };
        let one = match self.types {
            TypeCode::ZeroWrites => Op::Read,
            TypeCode::OneWrites => Op::Write,
        };
        let Request { op, sector, sectors, .. } = request;
        writeln!(out, "{time} {device} {sector} {sectors} {}", u8::from(op == one))
    }
}

impl TraceFormat for AsciiLayout {
    const UNIT: Option<TimeUnit> = None;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let legal = match self.types {
            TypeCode::ZeroWrites => "0 (write) or 1 (read)",
            TypeCode::OneWrites => "0 (read) or 1 (write)",
        };
        self.parse_with(line, |kind| Err(RowFault::field("type", kind, "not an operation", legal)))
    }

    fn layout(&self) -> &'static [Role] {
        AsciiLayout::ROLES
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        self.write_in(TimeUnit::Us, out, at_ns, device, request)
    }
}
