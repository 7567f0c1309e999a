//! `vscsi-v2` format: CloudPhysics traces of virtual disks, version 2, like `vscsi` with records of 40 bytes: u16
//! SCSI command, u16 version, u32 number, u32 length in bytes, u32 segments, u64 LBA in 512 B sectors, u64 time in
//! us, u64 response.

use super::vscsi::Fields;
use super::{ALL_OPS, Parsed, TimeUnit, TraceFormat, Units};
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const FIELDS: Fields =
    Fields { command: 0, version: 2, length: 8, lba: 16, time: 24, is_version: (2, "512 to 767, version 2") };

pub struct VscsiV2;

impl TraceFormat for VscsiV2 {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::SECTORS_AND_BYTES;
    const OPS: &'static [Op] = ALL_OPS;

    fn write(&self, out: &mut dyn Write, at_ns: u64, _device: u32, request: Request) -> io::Result<()> {
        FIELDS.write::<40>(out, at_ns, request)
    }

    fn record_bytes(&self) -> Option<usize> {
        Some(40)
    }

    fn parse_record<'l>(&self, record: &'l [u8]) -> Parsed<'l> {
        FIELDS.parse(record)
    }
}
