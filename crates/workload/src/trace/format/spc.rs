//! `spc` format: SPC traces of the UMass repository, `ASU,LBA,size,opcode,time` and further ignored columns; LBA in
//! 512 B sectors, size in bytes (widened to whole sectors), opcode `r` or `w` in either case, time in seconds with
//! decimals.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, Units, decimal, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{device, length_bytes, op, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "at least 5 columns between commas: ASU,LBA,size,opcode,time";

pub struct Spc;

impl TraceFormat for Spc {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::SECTORS_AND_BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [asu, lba, size, opcode, time] = commas(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::S)?;
        let device = device("ASU", asu)?;
        let (offset, size) = (sector_offset("LBA", lba)?, length_bytes("size", size)?);
        let op = op("opcode", opcode, &["r"], &["w"], "r or w")?;
        Ok(Some(ParsedRow { time, host: "", device, op, offset, size, flush: WithFlush::None }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Device, Role::Offset, Role::Size, Role::Op, Role::Time]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let opcode = if request.op == Op::Read { 'r' } else { 'w' };
        let (sector, size) = (request.sector, request.bytes().get());
        writeln!(out, "{device},{sector},{size},{opcode},{}", decimal(at_ns, 9))
    }
}
