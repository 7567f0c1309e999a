//! `disksim`: `ascii` with time in ns, type 1 = read. (DiskSim itself writes ms with decimals; for such files name `ssdsim-ms`.
//! Decimals in ns are refused, so the two cannot be confused.)

use super::{AsciiLayout, ParsedRow, RowFault, TimeUnit, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

const LAYOUT: AsciiLayout = AsciiLayout::of(TimeUnit::Ns);

/// Rows of this format.
pub struct DiskSim;

impl TraceFormat for DiskSim {
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
        LAYOUT.parse(line)
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        LAYOUT.write(out, at_ns, device, request)
    }
}
