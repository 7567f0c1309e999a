//! `fiu` format: traces of Florida International University, `time pid process lba size op major minor hash`,
//! separated by blanks; time in ns, LBA and size in 512 B sectors, op `R` or `W`; the hash is optional. Major and
//! minor number identify the device.

use super::{Parsed, ParsedRow, Role, Stamp, TimeUnit, TraceFormat, WithFlush};
use crate::trace::columns::blanks;
use crate::trace::number::{device, sector_length, op, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "at least 8 columns between blanks: time pid process lba size op major minor";

pub struct Fiu;

impl TraceFormat for Fiu {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Ns);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [time, pid, _, lba, size, kind, major, minor] = blanks(line, COLUMNS)?;
        device("pid", pid)?;
        device("major", major)?;
        Ok(Some(ParsedRow {
            time: Stamp::text(time, TimeUnit::Ns)?,
            host: major,
            device: device("minor", minor)?,
            op: op("op", kind, &["r", "read"], &["w", "write"], "R or W")?,
            offset: sector_offset("lba", lba)?,
            size: sector_length("size", size)?,
            flush: WithFlush::None,
        }))
    }

    fn layout(&self) -> &'static [Role] {
        &[Role::Time, Role::Skip, Role::Skip, Role::Offset, Role::Size, Role::Op, Role::Device, Role::Device]
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let Request { op, sector, sectors, .. } = request;
        let kind = if op == Op::Read { 'R' } else { 'W' };
        writeln!(out, "{at_ns} 1 gen {sector} {sectors} {kind} 8 {device} {:032x}", sector)
    }
}
