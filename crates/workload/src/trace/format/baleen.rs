//! `baleen` format: traces of Meta's Tectonic storage published with Baleen (Wong et al., FAST'24, SNIA IOTTA and CMU
//! PDL), `block_id io_offset io_size op_time op_name ...` between blanks; offset and size in bytes (widened to whole
//! sectors) within a block of 8 MiB, time in seconds since 1970. The files of 2023 have ten columns, of which the eighth
//! is the Reed-Solomon shard: shards of a block hold different data, so they are devices.

use super::{AddressUnit, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush, decimal};
use crate::trace::limits::SECTORS_MAX;
use crate::trace::number::{Column, device, length_bytes};
use interpulse_engine::{Op, Request, SECTOR};
use std::io::{self, Write};

const COLUMNS: &str = "8 columns or more between blanks: block_id io_offset io_size op_time op_name ...";

/// Largest block of Tectonic, `MAX_BLOCK_SIZE` of Baleen's simulator.
const BLOCK: u64 = 8 << 20;
/// Columns with a shard.
const WITH_SHARD: usize = 10;

pub struct Baleen;

/// Operation of a code: `None` for the code of unknown operations.
fn op(code: &str) -> Result<Option<Op>, RowFault> {
    match code {
        "1" | "2" | "5" => Ok(Some(Op::Read)),
        "3" | "4" | "6" => Ok(Some(Op::Write)),
        "100" => Ok(None),
        _ => Err(RowFault::field("op_name", code, "not an operation", "1, 2, 5 (GET), 3, 4, 6 (PUT) or 100 (unknown)")),
    }
}

impl TraceFormat for Baleen {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::BYTES;
    const ADDRESS_UNIT: AddressUnit = AddressUnit::Fixed;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let (mut columns, mut found) = ([""; WITH_SHARD], 0);
        for (column, text) in columns.iter_mut().zip(line.split_ascii_whitespace()) {
            (*column, found) = (text, found + 1);
        }
        if found < 8 {
            return Err(RowFault::Columns { found, legal: COLUMNS.into() });
        }
        let [block, offset, size, time, code, .., shard, _, _] = columns;
        let time = Stamp::text(time, TimeUnit::S)?;
        let blocks = Column { name: "block_id", text: block, legal: "a whole number below 2^30 (8 PiB of blocks)" };
        let block = blocks.whole(0, SECTORS_MAX * SECTOR.get() / BLOCK - 1)?;
        let within = Column { name: "io_offset", text: offset, legal: "bytes within a block, 0 to 8388607" };
        let offset = block * BLOCK + within.whole(0, BLOCK - 1)?;
        let Some(op) = op(code)? else { return Ok(None) };
        let size = length_bytes("io_size", size)?;
        let device = if found < WITH_SHARD { 0 } else { device("rs_shard_id", shard)? };
        Ok(Some(ParsedRow { time, host: "", device, op, offset, size, flush: WithFlush::None }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let address = request.sector * SECTOR.get();
        let (block, offset, size) = (address / BLOCK, address % BLOCK, request.bytes().get());
        let code = if request.op == Op::Read { 1 } else { 3 };
        writeln!(out, "{block} {offset} {size} {} {code} 0 0 {device} 1 0", decimal(at_ns, 9))
    }
}
