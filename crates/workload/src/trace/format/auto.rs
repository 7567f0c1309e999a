//! `auto`: told from the rows. The format that reads most of the first rows is the file's; where several read them equally
//! well, the one that the end of the file's name says, then the one whose unit of time is plausible (`trace/tell.rs`). Where
//! none reads half of them, the end of the name decides, so that the fault of a row can be named.

use super::{TimeUnit, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

/// Told from the file.
pub struct Auto;

impl TraceFormat for Auto {
    const UNIT: Option<TimeUnit> = None;

    fn write(&self, _: &mut dyn Write, _: u64, _: u32, _: Request) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "a trace cannot be written as `auto`"))
    }
}
