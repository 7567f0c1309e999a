//! `auto` format: detected from the rows. The format that parses most of the first rows is chosen; ties are resolved
//! by the file name extension, then by the plausibility of the time unit (`trace/detect.rs`). If no format parses
//! half of the rows, the extension decides, so that the fault of a row can be reported.

use super::{TimeUnit, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

pub struct Auto;

impl TraceFormat for Auto {
    const UNIT: Option<TimeUnit> = None;

    fn write(&self, _: &mut dyn Write, _: u64, _: u32, _: Request) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "a trace cannot be written as `auto`"))
    }
}
