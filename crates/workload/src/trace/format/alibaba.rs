//! `alibaba` format: Alibaba block traces, `device_id,opcode,offset,length,timestamp`; opcode `R` or `W`, offset and
//! length in bytes (widened to whole sectors), time in us since 1970.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{device, length_bytes, offset_bytes, op};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between commas: device_id,opcode,offset,length,timestamp";

pub struct Alibaba;

impl TraceFormat for Alibaba {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [number, opcode, offset, length, time] = commas(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::Us)?;
        let device = device("device_id", number)?;
        let op = op("opcode", opcode, &["r"], &["w"], "R or W")?;
        let (offset, size) = (offset_bytes("offset", offset)?, length_bytes("length", length)?);
        Ok(Some(ParsedRow { time, host: "", device, op, offset, size, flush: WithFlush::None }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Device, Role::Op, Role::Offset, Role::Size, Role::Time]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let opcode = if request.op == Op::Read { 'R' } else { 'W' };
        let (offset, length) = (request.sector * SECTOR.get(), request.bytes().get());
        writeln!(out, "{device},{opcode},{offset},{length},{}", at_ns / TimeUnit::Us.ns())
    }
}
