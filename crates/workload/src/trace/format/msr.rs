//! `msr` format: MSR Cambridge CSV, `FILETIME,host,disk,Type,offset,size,response`; time in 100 ns since 1601, Type
//! `Read` or `Write`, offset and size in bytes (widened to whole sectors). The response must be a number and is
//! ignored.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{Column, device, length_bytes, offset_bytes, op};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "7 columns between commas: time,host,disk,Type,offset,size,response";

const HOST: &str = "gen";
/// FILETIME (100 ns since 1601) of time zero in generated MSR rows; lies in the year 2007.
const FILETIME_ZERO: u64 = 128_166_400_000_000_000;

pub struct Msr;

impl TraceFormat for Msr {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Ticks);
    const UNITS: Units = Units::BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [time, host, disk, kind, offset, size, response] = commas(line, COLUMNS)?;
        let time = Stamp::text(time, TimeUnit::Ticks)?;
        let response = Column { name: "response", text: response, legal: "100 ns ticks, a whole number" };
        let device = device("disk", disk)?;
        let op = op("Type", kind, &["read"], &["write"], "Read or Write")?;
        let (offset, size) = (offset_bytes("offset", offset)?, length_bytes("size", size)?);
        response.whole(0, u64::MAX)?;
        Ok(Some(ParsedRow { time, host, device, op, offset, size, flush: WithFlush::None }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Time, Role::Skip, Role::Device, Role::Op, Role::Offset, Role::Size]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        self.write_named(out, at_ns, HOST, device, request)
    }

    fn holds_host(&self, host: &str) -> bool {
        !host.contains(['"', ',']) && host.trim() == host
    }

    fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        let host = if host.is_empty() { HOST } else { host };
        let time = FILETIME_ZERO + at_ns / TimeUnit::Ticks.ns();
        let kind = if request.op == Op::Read { "Read" } else { "Write" };
        let (offset, size) = (request.sector * SECTOR.get(), request.bytes().get());
        writeln!(out, "{time},{host},{device},{kind},{offset},{size},0")
    }
}
