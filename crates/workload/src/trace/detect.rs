//! [`Format::Auto`]: which format a file has. The rules stand there.

use super::problem::{TraceProblem, shorten};
use super::spec::Format;
use super::{msr, spc};

/// The format that the file name tells.
pub(super) fn by_name(file_name: &str) -> Option<Format> {
    let name = file_name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let (_, ending) = name.rsplit_once('.')?;
    let named = [Format::DiskSim, Format::SsdSimMs, Format::MqSim, Format::Msr, Format::Spc];
    named.into_iter().find(|format| format.name() == ending)
}

/// The format that the first row, at line `line`, tells.
pub(super) fn by_row(line: u64, row: &str) -> Result<Format, TraceProblem> {
    let commas = row.split(',').count();
    let fourth = row.split(',').nth(3).map_or("", str::trim);
    if msr::is_header(row) || commas == 7 && msr::op(fourth).is_some() {
        Ok(Format::Msr)
    } else if commas >= 5 && spc::op(fourth).is_some() {
        Ok(Format::Spc)
    } else if commas == 1 && row.split_ascii_whitespace().count() == 5 {
        Err(TraceProblem::Ambiguous)
    } else {
        Err(TraceProblem::Unknown { line, found: shorten(row) })
    }
}
