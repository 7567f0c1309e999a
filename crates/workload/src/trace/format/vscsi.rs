//! `vscsi` format: CloudPhysics traces of virtual disks, version 1. Little-endian records of 32 bytes: u32 number,
//! u32 length in bytes, u32 segments, u16 SCSI command, u16 version, u64 LBA in 512 B sectors, u64 time in us.
//! UNMAP is a discard, SYNCHRONIZE CACHE a flush; other commands than these, reads and writes are ignored.

use super::{ALL_OPS, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::number::{length_bytes, sector_offset};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

pub struct Vscsi;

pub(super) struct Fields {
    pub length: usize,
    pub command: usize,
    pub version: usize,
    pub lba: usize,
    pub time: usize,
    /// Description of the expected version, identified by its upper byte.
    pub is_version: (u8, &'static str),
}

const FIELDS: Fields =
    Fields { length: 4, command: 12, version: 14, lba: 16, time: 24, is_version: (1, "256 to 511, version 1") };

/// READ(6), (10), (12), (16); the opcode of each write is larger by two.
const READS: [u16; 4] = [0x08, 0x28, 0xa8, 0x88];
const UNMAP: u16 = 0x42;
/// SYNCHRONIZE CACHE (10) and (16).
const FLUSHES: [u16; 2] = [0x35, 0x91];
const COMMAND_MAX: u16 = 0xff;

impl Fields {
    pub fn parse<'l>(&self, record: &'l [u8]) -> Parsed<'l> {
        let number = |at: usize, bytes: usize| {
            record[at..at + bytes].iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let (command, version) = (number(self.command, 2) as u16, number(self.version, 2) as u16);
        if version >> 8 != u16::from(self.is_version.0) {
            let version = version.to_string();
            return Err(RowFault::field("version", &version, "another version", self.is_version.1));
        }
        let time = Stamp::Number(number(self.time, 8));
        let op = match command {
            _ if READS.contains(&command) => Op::Read,
            2.. if READS.contains(&(command - 2)) => Op::Write,
            UNMAP => Op::Trim,
            _ if FLUSHES.contains(&command) => return Ok(Some(ParsedRow::flush(time, "", 0))),
            0..=COMMAND_MAX => return Ok(None),
            _ => return Err(RowFault::field("command", &command.to_string(), "too large", "below 256")),
        };
        let length = number(self.length, 4);
        let offset = sector_offset("lba", &number(self.lba, 8).to_string())?;
        let size = match op {
            // A discard without a length names no range.
            Op::Trim => length,
            _ => length_bytes("length", &length.to_string())?,
        };
        let flush = WithFlush::None;
        Ok(Some(ParsedRow { time, host: "", device: 0, op, offset, size, flush }))
    }

    /// Writes a record of `N` bytes, which has no field for the device.
    pub fn write<const N: usize>(&self, out: &mut dyn Write, at_ns: u64, request: Request) -> io::Result<()> {
        let mut record = [0; N];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        let command = match request.op {
            Op::Read => READS[1],
            Op::Write => READS[1] + 2,
            Op::Trim => UNMAP,
            Op::Flush => FLUSHES[0],
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
        };
        put(self.length, &(request.bytes().get() as u32).to_le_bytes());
        put(self.command, &command.to_le_bytes());
        put(self.version, &(u16::from(self.is_version.0) << 8).to_le_bytes());
        put(self.lba, &request.sector.to_le_bytes());
        put(self.time, &(at_ns / TimeUnit::Us.ns()).to_le_bytes());
        out.write_all(&record)
    }
}

impl TraceFormat for Vscsi {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::SECTORS_AND_BYTES;
    const OPS: &'static [Op] = ALL_OPS;

    fn write(&self, out: &mut dyn Write, at_ns: u64, _device: u32, request: Request) -> io::Result<()> {
        FIELDS.write::<32>(out, at_ns, request)
    }

    fn record_bytes(&self) -> Option<usize> {
        Some(32)
    }

    fn parse_record<'l>(&self, record: &'l [u8]) -> Parsed<'l> {
        FIELDS.parse(record)
    }
}
