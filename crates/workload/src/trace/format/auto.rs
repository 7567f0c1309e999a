//! `auto`: told from the file, by these rules in this order:
//!
//! 1. An ending `.gz` or `.zst` of the name is set aside (case does not matter here or below).
//! 2. A name that ends in a dot and the name of a format has that format, unless the format leaves something open.
//! 3. Otherwise the first line that is not blank or a comment decides: the first format of the registry that recognises
//!    it. Five columns between blanks are some `ascii`, but nothing tells the time unit: an error asks for the format. So
//!    does what nobody recognises.

use super::{ParsedRow, RowFault, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

/// Told from the file.
pub struct Auto;

impl TraceFormat for Auto {
    fn parse<'l>(&self, _: &'l str) -> Result<ParsedRow<'l>, RowFault> {
        unreachable!("the format is told before rows are read")
    }

    fn write(&self, _: &mut dyn Write, _: u64, _: u32, _: Request) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "a trace cannot be written as `auto`"))
    }

    fn is_complete(&self) -> bool {
        false
    }
}
