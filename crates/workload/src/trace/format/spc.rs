//! `spc`: SPC-1 trace file format as in the UMass repository, `ASU,LBA,size,opcode,time` and possibly further columns,
//! which are ignored; LBA in 512 B sectors, size in bytes (widened to whole sectors), opcode `r` or `w` in either case,
//! time in seconds with decimals. A first row with five or more columns between commas, with `r` or `w` in the fourth, has
//! this format.

use super::{ParsedRow, RowFault, TraceFormat, decimal};
use interpulse_engine::{Op, Request, SECTOR};
use crate::trace::number::{Column, device, length_bytes, sector};
use crate::trace::row::widen;
use std::io::{self, Write};

const COLUMNS: &str = "at least 5 columns between commas: ASU,LBA,size,opcode,time";

/// Rows of this format.
pub struct Spc;

/// The operation named by the fourth column.
fn op(text: &str) -> Option<Op> {
    match text {
        "r" | "R" => Some(Op::Read),
        "w" | "W" => Some(Op::Write),
        _ => None,
    }
}

impl TraceFormat for Spc {
    fn parse<'l>(&self, line: &'l str) -> Result<ParsedRow<'l>, RowFault> {
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

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let opcode = if request.op == Op::Read { 'r' } else { 'w' };
        let (sector, size) = (request.sector, request.bytes().get());
        writeln!(out, "{device},{sector},{size},{opcode},{}", decimal(at_ns, 9))
    }

    fn recognises(&self, row: &str) -> bool {
        let fourth = row.split(',').nth(3).map_or("", str::trim);
        row.split(',').count() >= 5 && op(fourth).is_some()
    }
}
