//! How the rows of a trace are written. A format is one file here, with keys of its own if it has any, and one line of the
//! registry.

use super::problem::{RowFault, TraceProblem, shorten};
use super::row::ParsedRow;
use interpulse_engine::Request;
use interpulse_settings::registry;
use std::io::{self, Write};

pub use ascii::{AsciiLayout, TimeUnit, TypeCode};

registry! {
    $ /// How the rows of a trace are written.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Format, each_format {
        "auto" => auto::Auto: "told from the end of the file name, then from the first row";
        "msr" => msr::Msr: "MSR Cambridge CSV: FILETIME in 100 ns, host, disk, Read|Write, offset and size in bytes, response";
        "spc" => spc::Spc: "SPC / UMass CSV: ASU, LBA in 512 B sectors, size in bytes, r|w, time in seconds";
        "ascii" => ascii::Ascii(it): "columns time, device, LBA in 512 B sectors, sectors, type; time unit and type code given";
        "disksim" => disksim::DiskSim: "ascii with time in whole ns, type 1 = read, 0 = write";
        "ssdsim-ms" => ssdsim_ms::SsdSimMs: "ascii with time in ms (decimals allowed), type 1 = read, 0 = write";
        "mqsim" => mqsim::MqSim: "ascii with time in whole ns, type 1 = read, 0 = write";
    }
}

/// What a format of traces can do.
trait TraceFormat {
    /// The row in a line.
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault>;

    /// Writes a read or a write as a row. Times finer than the format's are rounded down.
    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()>;

    /// Whether its name says all about its rows: a file whose name ends in it has it.
    fn is_complete(&self) -> bool {
        true
    }

    /// Whether this is a line that some files begin with.
    fn is_header(&self, _line: &str) -> bool {
        false
    }

    /// Whether a first row like this one has this format.
    fn recognises(&self, _row: &str) -> bool {
        false
    }
}

impl Format {
    /// The format of this name; `None` for unknown names and for `ascii`, which is not complete without an
    /// [`AsciiLayout`].
    pub fn named(name: &str) -> Option<Format> {
        let complete = |format: &Format| *format == Format::Auto || format.is_complete();
        Format::all().into_iter().map(|(_, format, _)| format).find(|f| f.name() == name && complete(f))
    }

    /// The format that the end of a file name tells, as [`Format::Auto`] does.
    pub fn of_name(file_name: &str) -> Option<Format> {
        let name = file_name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let (_, ending) = name.rsplit_once('.')?;
        Format::named(ending).filter(Format::is_complete)
    }

    /// The format that the first row, at line `line`, tells, as [`Format::Auto`] does.
    pub(super) fn of_row(line: u64, row: &str) -> Result<Format, TraceProblem> {
        let recognises = |format: &Format| each_format!(format, it => it.recognises(row));
        match Format::all().into_iter().map(|(_, format, _)| format).find(recognises) {
            Some(format) if format.is_complete() => Ok(format),
            Some(_) => Err(TraceProblem::Ambiguous),
            None => Err(TraceProblem::Unknown { line, found: shorten(row) }),
        }
    }

    pub(super) fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
        each_format!(self, it => it.parse(line))
    }

    pub(super) fn is_header(&self, line: &str) -> bool {
        each_format!(self, it => it.is_header(line))
    }

    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        each_format!(self, it => it.write(out, at_ns, device, request))
    }

    fn is_complete(&self) -> bool {
        each_format!(self, it => it.is_complete())
    }
}

/// `ns` in units of 10^`digits` ns, with that many decimals.
fn decimal(ns: u64, digits: usize) -> String {
    let unit = 10u64.pow(digits as u32);
    format!("{}.{:0digits$}", ns / unit, ns % unit)
}
