//! SPC (UMass repository) CSV rows.

use super::number::{Column, device, length_bytes, sector};
use super::problem::RowFault;
use super::row::{ParsedRow, widen};
use interpulse_engine::{Op, SECTOR};

const COLUMNS: &str = "at least 5 columns between commas: ASU,LBA,size,opcode,time";

/// The operation named by the fourth column.
pub(super) fn op(text: &str) -> Option<Op> {
    match text {
        "r" | "R" => Some(Op::Read),
        "w" | "W" => Some(Op::Write),
        _ => None,
    }
}

pub(super) fn parse(line: &str) -> Result<ParsedRow<'_>, RowFault> {
    let mut columns = [""; 5];
    let mut found = 0;
    for column in line.split(',') {
        if let Some(place) = columns.get_mut(found) {
            *place = column.trim();
        }
        found += 1;
    }
    if found < columns.len() {
        return Err(RowFault::Columns { found, legal: COLUMNS });
    }
    let [asu, lba, size, opcode, time] = columns;
    let time = Column { name: "time", text: time, legal: "seconds, 0 or more, decimals allowed" };
    let device = device("ASU", asu)?;
    let (sector, sectors) = widen(sector("LBA", lba)? * SECTOR.get(), length_bytes("size", size)?);
    let op = op(opcode).ok_or_else(|| RowFault::field("opcode", opcode, "no operation", "r or w"))?;
    Ok(ParsedRow {
        time_ns: time.time_ns(1_000_000_000)?,
        host: "",
        device,
        op,
        sector,
        sectors: sectors as u32,
    })
}
