//! `oraclegeneral` format: oracleGeneral traces of libCacheSim (`oracleGeneralBin.h`). Little-endian records of 24
//! bytes: u32 time in s, u64 object, u32 size in bytes, i64 number of the next request of the object. A record has
//! neither an operation nor an address: the configuration gives the operation of all, and the bytes between two objects
//! as `address-unit`. Records without a size are ignored, as libCacheSim does.

use super::columns::Operation;
use super::{AddressUnit, Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, WithFlush};
use crate::trace::limits::SECTORS_MAX;
use crate::trace::number::length_bytes;
use interpulse_engine::{Op, Request, SECTOR};
use interpulse_settings::keys;
use std::io::{self, Write};

const RECORD: usize = 24;
/// Number of the next request of an object that is not requested again.
const NEVER: i64 = -1;

keys! {
    /// What the records do not hold.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct OracleGeneral, pub(super) fn read(s) {
        /// operation of every record, which the file does not give
        pub operation: Operation = choice(None, Operation::ALL),
    }
}

fn field<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|byte| record[at + byte])
}

impl TraceFormat for OracleGeneral {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::S);
    const UNITS: Units = Units::SECTORS_AND_BYTES;
    const ADDRESS_UNIT: AddressUnit = AddressUnit::Required;
    const DETECTABLE: bool = false;

    fn ops(&self) -> &'static [Op] {
        match self.operation {
            Operation::Read => &[Op::Read],
            Operation::Write => &[Op::Write],
        }
    }

    fn as_written(&self) -> Option<Format> {
        Some(Format::OracleGeneral(OracleGeneral { operation: Operation::Read }))
    }

    fn record_bytes(&self) -> Option<usize> {
        Some(RECORD)
    }

    fn parse_record<'l>(&self, record: &'l [u8]) -> Parsed<'l> {
        let time = Stamp::Number(u32::from_le_bytes(field(record, 0)).into());
        let (object, size) = (u64::from_le_bytes(field(record, 4)), u32::from_le_bytes(field(record, 12)));
        let next = i64::from_le_bytes(field(record, 16));
        if next < NEVER {
            let legal = "the number of a request, or -1 (records of 24 bytes of oracleGeneral)";
            return Err(RowFault::field("next", &next.to_string(), "negative", legal));
        }
        if object >= SECTORS_MAX {
            let legal = "below 2^44; objects that are hashes have no addresses";
            return Err(RowFault::field("object", &object.to_string(), "too large", legal));
        }
        if size == 0 {
            return Ok(None);
        }
        let size = length_bytes("size", &size.to_string())?;
        let (op, offset) = (self.operation.into(), object * SECTOR.get());
        Ok(Some(ParsedRow { time, host: "", device: 0, op, offset, size, flush: WithFlush::None }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, _device: u32, request: Request) -> io::Result<()> {
        let seconds = (at_ns / TimeUnit::S.ns()) as u32;
        out.write_all(&seconds.to_le_bytes())?;
        out.write_all(&request.sector.to_le_bytes())?;
        out.write_all(&(request.bytes().get() as u32).to_le_bytes())?;
        out.write_all(&NEVER.to_le_bytes())
    }
}
