//! `systor` format: SYSTOR '17 traces of enterprise virtual desktops, `Timestamp,Response,IOType,LUN,Offset,Size`;
//! time in seconds since 1970 with decimals, offset and size in bytes (widened to whole sectors). The response and
//! rows without a type are ignored.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, Units, decimal, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{device, length_bytes, offset_bytes, op};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "6 columns between commas: Timestamp,Response,IOType,LUN,Offset,Size";

pub struct Systor;

impl TraceFormat for Systor {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [time, _, kind, lun, offset, size] = commas(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::S)?;
        if kind.is_empty() {
            return Ok(None);
        }
        let device = device("LUN", lun)?;
        let op = op("IOType", kind, &["r"], &["w"], "R, W or nothing")?;
        let (offset, size) = (offset_bytes("Offset", offset)?, length_bytes("Size", size)?);
        Ok(Some(ParsedRow { time, host: "", device, op, offset, size, flush: WithFlush::None }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Time, Role::Skip, Role::Op, Role::Device, Role::Offset, Role::Size]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let kind = if request.op == Op::Read { 'R' } else { 'W' };
        let (offset, size) = (request.sector * SECTOR.get(), request.bytes().get());
        writeln!(out, "{},0.0,{kind},{device},{offset},{size}", decimal(at_ns, 9))
    }
}
