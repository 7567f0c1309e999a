//! `ssdsim-ms`: `ascii` with time in ms, type 1 = read.

use super::{AsciiLayout, ParsedRow, RowFault, TimeUnit, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

const LAYOUT: AsciiLayout = AsciiLayout::of(TimeUnit::Ms);

/// Rows of this format.
pub struct SsdSimMs;

impl TraceFormat for SsdSimMs {
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
        LAYOUT.parse(line)
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        LAYOUT.write(out, at_ns, device, request)
    }
}
