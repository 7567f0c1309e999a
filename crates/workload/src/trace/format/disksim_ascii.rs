//! `disksim-ascii` format: DiskSim ASCII traces, like `ascii` with time in ms, mostly with decimals. The last column
//! holds hexadecimal flags; bit 0 means read.

use super::{AsciiLayout, Parsed, Role, RowFault, TimeUnit, TraceFormat};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const LEGAL: &str = "a hexadecimal number below 100 of which bit 0 means read";

pub struct DiskSimAscii;

fn op(flags: &str) -> Result<Op, RowFault> {
    let digits = flags.strip_prefix("0x").unwrap_or(flags);
    match u8::from_str_radix(digits, 16) {
        Ok(flags) => Ok(if flags & 1 == 1 { Op::Read } else { Op::Write }),
        Err(_) => Err(RowFault::field("flags", flags, "not a set of flags", LEGAL)),
    }
}

impl TraceFormat for DiskSimAscii {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Ms);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        AsciiLayout::OF_SIMULATORS.parse_with(line, op)
    }

    fn layout(&self) -> &'static [Role] {
        AsciiLayout::ROLES
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        AsciiLayout::OF_SIMULATORS.write_in(TimeUnit::Ms, out, at_ns, device, request)
    }

    /// Flags other than 0 and 1 could be any column: they indicate DiskSim only after a time with decimals.
    fn recognises(&self, line: &str) -> bool {
        let decimals = line.split_ascii_whitespace().next().is_some_and(|time| time.contains('.'));
        decimals || AsciiLayout::OF_SIMULATORS.parse(line).is_ok()
    }
}
