//! `tencent` format: Tencent cloud block storage traces, `Timestamp,Offset,Size,IOType,VolumeID`; time in seconds
//! since 1970, offset and size in 512 B sectors, type 0 = read, 1 = write.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, decimal, WithFlush};
use crate::trace::columns::commas;
use crate::trace::number::{device, sector_length, op, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "5 columns between commas: Timestamp,Offset,Size,IOType,VolumeID";

pub struct Tencent;

impl TraceFormat for Tencent {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [time, offset, size, kind, volume] = commas(line, COLUMNS)?;
        Ok(Some(ParsedRow {
            time: Stamp::text(time, TimeUnit::S)?,
            host: "",
            device: device("VolumeID", volume)?,
            op: op("IOType", kind, &["0"], &["1"], "0 (read) or 1 (write)")?,
            offset: sector_offset("Offset", offset)?,
            size: sector_length("Size", size)?,
            flush: WithFlush::None,
        }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Time, Role::Offset, Role::Size, Role::Op, Role::Device]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let Request { op, sector, sectors, .. } = request;
        writeln!(out, "{},{sector},{sectors},{},{device}", decimal(at_ns, 9), u8::from(op == Op::Write))
    }
}
