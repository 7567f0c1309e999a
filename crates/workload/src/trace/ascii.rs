//! Rows of the family `time device lba sectors type`.

use super::number::{Column, device, length_sectors, sector};
use super::problem::RowFault;
use super::row::ParsedRow;
use super::spec::{AsciiLayout, TimeUnit, TypeCode};
use interpulse_engine::Op;

const COLUMNS: &str = "5 columns between blanks: time device lba sectors type";

/// The layout that the simulators' own names stand for.
pub(super) const fn preset(time: TimeUnit) -> AsciiLayout {
    AsciiLayout { time, types: TypeCode::ZeroWrites }
}

pub(super) fn parse(line: &str, layout: AsciiLayout) -> Result<ParsedRow<'_>, RowFault> {
    let mut columns = [""; 5];
    let mut found = 0;
    for column in line.split_ascii_whitespace() {
        if let Some(place) = columns.get_mut(found) {
            *place = column;
        }
        found += 1;
    }
    if found != columns.len() {
        return Err(RowFault::Columns { found, legal: COLUMNS });
    }
    let [time, number, lba, length, kind] = columns;
    let (unit_ns, legal) = match layout.time {
        TimeUnit::Ns => (1, "ns, a whole number (for decimals, name a format in us or ms)"),
        TimeUnit::Us => (1_000, "us, 0 or more, decimals allowed"),
        TimeUnit::Ms => (1_000_000, "ms, 0 or more, decimals allowed"),
    };
    let time = Column { name: "time", text: time, legal };
    let time_ns = time.time_ns(unit_ns)?;
    let device = device("device", number)?;
    let sector = sector("lba", lba)?;
    let sectors = length_sectors("sectors", length)?;
    let (zero, one, legal) = match layout.types {
        TypeCode::ZeroWrites => (Op::Write, Op::Read, "0 (write) or 1 (read)"),
        TypeCode::OneWrites => (Op::Read, Op::Write, "0 (read) or 1 (write)"),
    };
    let op = match kind {
        "0" => zero,
        "1" => one,
        _ => return Err(RowFault::field("type", kind, "no operation", legal)),
    };
    Ok(ParsedRow { time_ns, host: "", device, op, sector, sectors })
}
