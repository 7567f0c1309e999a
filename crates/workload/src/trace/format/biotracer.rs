//! `biotracer` format: logs of BIOTracer, the Nexus 5 smartphone traces (Zhou et al., IISWC'15, SNIA IOTTA). Columns
//! between blanks: sector, size in sectors, size in bytes, type, and the times at which a request was generated,
//! fetched, submitted and finished, in seconds. Bit 0 of the type marks writes, bit 2 requests that did not wait. The
//! eMMC driver adds a sector to some sizes in sectors, so that those in bytes (widened to whole sectors) count.

use super::{Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush, decimal};
use crate::trace::columns::blanks;
use crate::trace::number::{Column, length_bytes, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "8 columns between blanks: sector, sectors, bytes, type, generated, fetched, submitted, finished";
/// 2015-01-01, the year of the recordings, in seconds since 1970: date of time zero in written rows.
const ZERO_S: u64 = 1_420_070_400;

pub struct Biotracer;

impl TraceFormat for Biotracer {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::SECTORS_AND_BYTES;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [sector, sectors, bytes, kind, generated, fetched, submitted, finished] = blanks(line, COLUMNS)?;
        let time = Stamp::text(generated, TimeUnit::S)?;
        for later in [fetched, submitted, finished] {
            Stamp::text(later, TimeUnit::S)?;
        }
        let op = match kind {
            "0" | "4" => Op::Read,
            "1" | "5" => Op::Write,
            _ => return Err(RowFault::field("type", kind, "not an operation", "0 or 4 (read), 1 or 5 (write)")),
        };
        let offset = sector_offset("sector", sector)?;
        Column { name: "sectors", text: sectors, legal: "a whole number" }.whole(0, u64::MAX)?;
        if bytes == "0" {
            return Ok(None);
        }
        let size = length_bytes("bytes", bytes)?;
        Ok(Some(ParsedRow { time, host: "", device: 0, op, offset, size, flush: WithFlush::None }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, _device: u32, request: Request) -> io::Result<()> {
        let (sector, sectors, bytes) = (request.sector, request.sectors, request.bytes().get());
        let kind = if request.op == Op::Read { 4 } else { 5 };
        let time = decimal(ZERO_S * TimeUnit::S.ns() + at_ns, 9);
        writeln!(out, "{sector}\t\t{sectors}\t\t{bytes}\t\t{kind}\t\t{time}\t\t{time}\t\t{time}\t\t{time}")
    }
}
