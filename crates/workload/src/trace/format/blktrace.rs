//! `blktrace` format: the binary files of blktrace, one of each CPU, version 7. Records of 48 bytes in the byte order of
//! the recording machine, each followed by `pdu_len` bytes: u32 magic and version, u32 number, u64 time in ns, u64
//! sector, u32 bytes, u32 action and categories, u32 pid, u32 device, u32 cpu, u16 error, u16 pdu_len
//! (`include/uapi/linux/blktrace_api.h` of Linux). Records of the selected event are replayed, as with `blkparse`.

use super::blkparse::Event;
use super::{
    ALL_OPS, Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush,
};
use crate::trace::number::{discard_bytes, length_bytes, sector_offset};
use interpulse_engine::{Op, Request};
use interpulse_settings::{ConfigError, Section};
use std::io::{self, Write};
use std::sync::LazyLock;

const RECORD: usize = 48;
/// Magic number in the upper 24 bits, version in the lower 8.
const MAGIC: u32 = 0x6561_7407;
/// Bits of a minor number in a device number.
const MINOR_BITS: u32 = 20;
/// Categories above the 16 bits of the action.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
const PC: u32 = 1 << 25;
/// Mark of an action that carries a control group.
const CGROUP: u32 = 1 << 8;
/// Categories QUEUE, ISSUE and COMPLETE.
const QUEUED: u32 = 1 << 20;
const READ: u32 = 1 << 16;

/// Major numbers as the host names of their devices.
static MAJORS: LazyLock<Vec<String>> = LazyLock::new(|| (0..1 << (32 - MINOR_BITS)).map(|n: u32| n.to_string()).collect());

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blktrace {
    /// Event whose records are requests.
    pub event: Event,
}

impl Blktrace {
    pub(super) fn read(s: &mut Section) -> Result<Blktrace, ConfigError> {
        let event = s.choice("event", "event whose records are requests", Some("queued"), Event::ALL)?;
        Ok(Blktrace { event })
    }

    fn action(self) -> u32 {
        match self.event {
            Event::Queued => 1,
            Event::Issued => 7,
            Event::Completed => 8,
        }
    }
}

/// Fields of a record in either byte order.
struct Fields<'r> {
    record: &'r [u8],
    big: bool,
}

impl Fields<'_> {
    fn number(&self, at: usize, bytes: usize) -> u64 {
        let field = &self.record[at..at + bytes];
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self.big { field.iter().fold(0, add) } else { field.iter().rev().fold(0, add) }
    }

    fn u32(&self, at: usize) -> u32 {
        self.number(at, 4) as u32
    }
}

/// Fields of a record with a known magic number.
fn fields(record: &[u8]) -> Option<Fields<'_>> {
    let magic = MAGIC.to_be_bytes();
    if record.starts_with(&magic) {
        return Some(Fields { record, big: true });
    }
    record.iter().take(4).eq(magic.iter().rev()).then_some(Fields { record, big: false })
}

impl TraceFormat for Blktrace {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Ns);
    const UNITS: Units = Units::SECTORS_AND_BYTES;
    const OPS: &'static [Op] = ALL_OPS;

    fn record_bytes(&self) -> Option<usize> {
        Some(RECORD)
    }

    fn tail_bytes(record: &[u8]) -> usize {
        fields(record).map_or(0, |fields| fields.number(46, 2) as usize)
    }

    fn parse_record<'l>(&self, record: &'l [u8]) -> Parsed<'l> {
        let Some(fields) = fields(record) else {
            let magic = u32::from_le_bytes(std::array::from_fn(|i| record[i]));
            let legal = "0x65617407 (blktrace, version 7) in either byte order";
            return Err(RowFault::field("magic", &format!("{magic:#010x}"), "another number", legal));
        };
        let action = fields.u32(28);
        if action & NOTIFY != 0 || action & PC != 0 || action & 0xffff & !CGROUP != self.action() {
            return Ok(None);
        }
        let time = Stamp::Number(fields.number(8, 8));
        let device = fields.u32(36);
        let (host, device) = (MAJORS[(device >> MINOR_BITS) as usize].as_str(), device & ((1 << MINOR_BITS) - 1));
        let length = fields.u32(24);
        let flushes = action & (FLUSH | FUA) != 0;
        let op = match action {
            _ if action & DISCARD != 0 => Op::Trim,
            _ if length == 0 && flushes => return Ok(Some(ParsedRow::flush(time, host, device))),
            _ if length == 0 => return Ok(None),
            _ if action & WRITE != 0 => Op::Write,
            _ => Op::Read,
        };
        let text = length.to_string();
        let size = if op == Op::Trim { discard_bytes("bytes", &text)? } else { length_bytes("bytes", &text)? };
        let flush = match op {
            Op::Write if action & FUA != 0 => WithFlush::After,
            Op::Write if action & FLUSH != 0 => WithFlush::Before,
            _ => WithFlush::None,
        };
        let offset = sector_offset("sector", &fields.number(16, 8).to_string())?;
        Ok(Some(ParsedRow { time, host, device, op, offset, size, flush }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        self.write_named(out, at_ns, "8", device, request)
    }

    /// The host of a device is its major number.
    fn holds_host(&self, host: &str) -> bool {
        host.is_empty() || host.parse::<usize>().is_ok_and(|major| MAJORS.get(major).is_some_and(|known| known == host))
    }

    fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        let kind = match request.op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim => WRITE | DISCARD,
            Op::Flush => WRITE | FLUSH,
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
        };
        let category = match self.event {
            Event::Queued => QUEUED,
            Event::Issued => QUEUED << 2,
            Event::Completed => QUEUED << 3,
        };
        let major = host.parse::<u32>().unwrap_or(8);
        let mut record = [0; RECORD];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC.to_le_bytes());
        put(8, &at_ns.to_le_bytes());
        put(16, &request.sector.to_le_bytes());
        put(24, &(request.bytes().get() as u32).to_le_bytes());
        put(28, &(self.action() | category | kind).to_le_bytes());
        put(32, &1u32.to_le_bytes());
        put(36, &(major << MINOR_BITS | device & ((1 << MINOR_BITS) - 1)).to_le_bytes());
        out.write_all(&record)
    }

    fn variants(&self) -> Vec<Format> {
        [Event::Issued, Event::Completed].map(|event| Format::Blktrace(Blktrace { event })).into()
    }
}
