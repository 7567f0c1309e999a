//! Trace formats. A format consists of one file with its keys and one line of the registry.

use super::address_units::Units;
use super::columns::is_blank;
use super::lines::{Framing, Raw};
use super::problem::RowFault;
use super::row::{Directive, Parsed, ParsedRow, WithFlush};
use super::unit::{Stamp, TimeUnit};
use interpulse_engine::{Op, Request};
use interpulse_settings::{ConfigError, Section, registry};
use std::io::{self, Write};

pub use super::role::Role;
pub use super::separator::Separator;
pub use ascii::{AsciiLayout, TypeCode};
pub use blkparse::Event;
pub use columns::{Columns, Operation};
pub use ftrace::Ftrace;
pub use oraclegeneral::OracleGeneral;

mod rwbs;

registry! {
    $ /// Format of the rows of a trace.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum Format, each_format {
        "auto" => auto::Auto: "detected from the rows";
        "msr" => msr::Msr: "MSR Cambridge CSV: FILETIME in 100 ns, host, disk, Read|Write, offset and size in bytes, response";
        "spc" => spc::Spc: "SPC / UMass CSV: ASU, LBA in 512 B sectors, size in bytes, r|w, time in seconds";
        "alibaba" => alibaba::Alibaba: "Alibaba block CSV: device, R|W, offset and length in bytes, time in us";
        "tencent" => tencent::Tencent: "Tencent CBS CSV: time in seconds, offset and size in 512 B sectors, 0 = read, 1 = write, volume";
        "systor" => systor::Systor: "SYSTOR '17 CSV: time in seconds, response, R|W, LUN, offset and size in bytes";
        "fiu" => fiu::Fiu: "FIU text: time in ns, pid, process, LBA and size in 512 B sectors, R|W, major, minor, hash";
        "blkparse" => blkparse::Blkparse(it): "text of blkparse: device, CPU, number, time in seconds, pid, action, operation, sector + sectors";
        "blktrace" => blktrace::Blktrace(it): "binary files of blktrace, one of each CPU: records of 48 bytes, time in ns";
        "ftrace" => ftrace::Ftrace(it): "block_bio_queue, block_rq_issue or block_rq_complete of ftrace, trace-cmd or perf script: time in seconds";
        "biosnoop" => biosnoop::Biosnoop: "biosnoop of bcc: time in seconds, process, pid, disk, operation, sector, bytes, latency";
        "fio" => fio::Fio: "I/O log of fio, version 3: time in us, file, read|write|trim|sync, offset and length in bytes";
        "fio-v2" => fio_v2::FioV2: "I/O log of fio, version 2, without times, replayed closed loop: file, read|write|trim|sync|wait, offset and length in bytes";
        "xperf" => xperf::Xperf: "DiskRead and DiskWrite of xperf, as in the Microsoft production server traces: time in us";
        "mqsim" => mqsim::MqSim: "MQSim: time in whole ns, device, LBA and size in 512 B sectors, 1 = read, 0 = write";
        "ssdsim" => ssdsim::SsdSim: "SSDSim: time in whole ns, device, LBA and size in 512 B sectors, 1 = read, 0 = write";
        "disksim-ascii" => disksim_ascii::DiskSimAscii: "DiskSim's ASCII format: time in ms, device, LBA and size in 512 B sectors, flags (1 = read)";
        "ascii" => ascii::Ascii(it): "the columns of MQSim, SSDSim and DiskSim; time unit detected or specified, type code specified";
        "columns" => columns::Columns(it): "columns of your own: time, op, offset and size in any order, named in `columns` or by the heading";
        "vscsi" => vscsi::Vscsi: "CloudPhysics vscsi, version 1: binary records of 32 bytes, time in us";
        "vscsi-v2" => vscsi_v2::VscsiV2: "CloudPhysics vscsi, version 2: binary records of 40 bytes, time in us";
        "baleen" => baleen::Baleen: "Meta's Tectonic traces of Baleen: block of 8 MiB, offset and size in bytes, time in seconds, operation";
        "biotracer" => biotracer::Biotracer: "BIOTracer, Nexus 5 smartphones: sector, sizes in sectors and bytes, type, four times in seconds";
        "oraclegeneral" => oraclegeneral::OracleGeneral(it): "oracleGeneral of libCacheSim: binary records of 24 bytes without operations and addresses, time in s";
    }
}

/// Meaning of the setting `address-unit` in a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AddressUnit {
    /// It replaces the unit of the format.
    Optional,
    /// The file does not determine a unit.
    Required,
    /// Addresses have several columns, which have units of their own.
    Fixed,
}

trait TraceFormat {
    /// Time unit; `None` if the format does not define it.
    const UNIT: Option<TimeUnit>;
    /// Units of addresses and sizes.
    const UNITS: Units = Units::SECTORS;

    /// Meaning of the setting `address-unit`.
    const ADDRESS_UNIT: AddressUnit = AddressUnit::Optional;

    /// Whether the content of a file can identify the format.
    const DETECTABLE: bool = true;

    /// Operations that a row of this format can hold.
    const OPS: &'static [Op] = &[Op::Read, Op::Write];

    /// Operations that a row can hold with the keys of this format.
    fn ops(&self) -> &'static [Op] {
        Self::OPS
    }

    /// Whether the rows have times; without them a trace is replayed closed loop.
    const HAS_TIMES: bool = true;

    /// Parses a line; `None` for a line of this format that is no request.
    fn parse<'l>(&self, _line: &'l str) -> Parsed<'l> {
        unreachable!("the format has no lines")
    }

    fn unit(&self) -> Option<TimeUnit> {
        Self::UNIT
    }

    fn has_times(&self) -> bool {
        Self::HAS_TIMES
    }

    fn units(&self) -> Units {
        Self::UNITS
    }

    /// Columns of a row, for comparison with a heading; none if the format does not have them in a fixed order.
    fn layout(&self) -> &'static [Role] {
        &[]
    }

    /// This format with the keys that a written file needs; `None` if the default keys are enough.
    fn as_written(&self) -> Option<Format> {
        None
    }

    /// Lines at the start of the file that hold no rows.
    fn header_rows(&self) -> u64 {
        0
    }

    /// Whether a line that looks like a comment is a row.
    fn is_row(&self, _line: &str) -> bool {
        false
    }

    /// Meaning of a line that is no request; `None` if it has none for a replay.
    fn directive<'l>(&self, _line: &'l str) -> Result<Option<Directive<'l>>, RowFault> {
        Ok(None)
    }

    /// Writes a request with an operation of `OPS` as a row. Times finer than the resolution of the format are rounded down.
    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()>;

    /// The same for a device of the host `host`, if [`TraceFormat::holds_host`].
    fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        _host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        self.write(out, at_ns, device, request)
    }

    /// Whether a written row can name a device of this host.
    fn holds_host(&self, host: &str) -> bool {
        host.is_empty()
    }

    /// Writes the lines before the rows of these devices (host and number).
    fn write_heading(&self, _out: &mut dyn Write, _devices: &[(&str, u32)]) -> io::Result<()> {
        Ok(())
    }

    fn record_bytes(&self) -> Option<usize> {
        None
    }

    /// Bytes that follow this record and are no record.
    fn tail_bytes(_record: &[u8]) -> usize {
        0
    }

    fn parse_record<'l>(&self, _record: &'l [u8]) -> Parsed<'l> {
        unreachable!("the format has no records")
    }

    /// Whether the line is a known file header that contains numbers.
    fn is_header(&self, _line: &str) -> bool {
        false
    }

    /// Whether a parseable row indicates this format.
    fn recognises(&self, _line: &str) -> bool {
        true
    }

    /// Variants with other keys, in the order of trial when this one parses no row.
    fn variants(&self) -> Vec<Format> {
        Vec::new()
    }
}

const RETIRED: [(&str, &str); 2] = [
    (
        "disksim",
        "disksim-ascii for times in ms, the unit of DiskSim; mqsim or ssdsim for whole ns, the former meaning of this name",
    ),
    (
        "ssdsim-ms",
        "disksim-ascii for times in ms, the former meaning of this name; ssdsim for whole ns, the unit of SSDSim",
    ),
];

impl Format {
    pub(super) fn read(s: &mut Section) -> Result<Format, ConfigError> {
        let read = s.policy("format", "format of the trace", Some("auto"), Format::ROWS);
        read.map_err(|error| match RETIRED.iter().find(|(name, _)| error.seen() == format!("\"{name}\"")) {
            Some((_, instead)) => s.invalid("format", *instead),
            None => error,
        })
    }

    /// Replacement of a retired name.
    pub fn replacement_of(name: &str) -> Option<&'static str> {
        RETIRED.iter().find(|each| each.0 == name).map(|each| each.1)
    }

    /// Format with this name; `None` for unknown names and for `ascii`, which requires an [`AsciiLayout`].
    pub fn named(name: &str) -> Option<Format> {
        let named = Format::all().into_iter().map(|(_, format, _)| format).find(|f| f.name() == name);
        named.filter(|format| !matches!(format, Format::Ascii(_)))
    }

    /// Format indicated by a file name extension.
    pub fn of_name(file_name: &str) -> Option<Format> {
        let name = file_name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let (_, ending) = name.rsplit_once('.')?;
        Format::named(ending).filter(|format| !matches!(format, Format::Auto | Format::Columns(_)))
    }

    /// All formats except `auto`, with the keys that a written file needs.
    pub fn readers() -> impl Iterator<Item = Format> {
        let all = Format::all().into_iter().map(|(_, format, _)| {
            let written = each_format!(&format, it => it.as_written());
            written.unwrap_or(format)
        });
        all.filter(|format| *format != Format::Auto)
    }

    pub(super) fn parse<'l>(&self, raw: Raw<'l>) -> Parsed<'l> {
        match raw {
            Raw::Line(line) => each_format!(self, it => it.parse(line)),
            Raw::Record(record) => each_format!(self, it => it.parse_record(record)),
        }
    }

    /// Meaning of a line that [`Format::parse`] found to be no request.
    pub(super) fn directive<'l>(&self, raw: Raw<'l>) -> Result<Option<Directive<'l>>, RowFault> {
        match raw {
            Raw::Line(line) => each_format!(self, it => it.directive(line)),
            Raw::Record(_) => Ok(None),
        }
    }

    /// Whether a row of this format can hold this operation.
    pub fn holds(&self, op: Op) -> bool {
        each_format!(self, it => it.ops()).contains(&op)
    }

    /// Whether the rows have times; without them a trace is replayed closed loop.
    pub fn has_times(&self) -> bool {
        each_format!(self, it => it.has_times())
    }

    pub(super) fn address_unit(&self) -> AddressUnit {
        fn of<F: TraceFormat>(_: &F) -> AddressUnit {
            F::ADDRESS_UNIT
        }
        each_format!(self, it => of(it))
    }

    /// Whether the settings must give the unit of addresses, which a file of this format does not determine.
    pub fn needs_address_unit(&self) -> bool {
        self.address_unit() == AddressUnit::Required
    }

    /// Whether the content of a file can identify the format.
    pub fn is_detectable(&self) -> bool {
        fn of<F: TraceFormat>(_: &F) -> bool {
            F::DETECTABLE
        }
        each_format!(self, it => of(it))
    }

    pub(super) fn record_bytes(&self) -> Option<usize> {
        each_format!(self, it => it.record_bytes())
    }

    pub(super) fn framing(&self) -> Framing {
        fn tail<F: TraceFormat>(_: &F) -> fn(&[u8]) -> usize {
            F::tail_bytes
        }
        match self.record_bytes() {
            None => Framing::Lines,
            Some(bytes) => Framing::Records { bytes, tail: each_format!(self, it => tail(it)) },
        }
    }

    pub(super) fn write_named(
        &self,
        out: &mut dyn Write,
        at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        each_format!(self, it => it.write_named(out, at_ns, host, device, request))
    }

    pub(super) fn holds_host(&self, host: &str) -> bool {
        each_format!(self, it => it.holds_host(host))
    }

    pub(super) fn write_heading(&self, out: &mut dyn Write, devices: &[(&str, u32)]) -> io::Result<()> {
        each_format!(self, it => it.write_heading(out, devices))
    }

    pub(super) fn is_header(&self, line: &str) -> bool {
        each_format!(self, it => it.is_header(line))
    }

    pub(super) fn recognises(&self, line: &str) -> bool {
        each_format!(self, it => it.recognises(line))
    }

    pub(super) fn variants(&self) -> Vec<Format> {
        each_format!(self, it => it.variants())
    }

    pub(super) fn units(&self) -> Units {
        each_format!(self, it => it.units())
    }

    pub(super) fn layout(&self) -> &'static [Role] {
        each_format!(self, it => it.layout())
    }

    pub(super) fn header_rows(&self) -> u64 {
        each_format!(self, it => it.header_rows())
    }

    /// Whether a line holds no row: blank, or a comment.
    pub(super) fn skips(&self, line: &str) -> bool {
        is_blank(line) && !each_format!(self, it => it.is_row(line))
    }

    /// Time unit; `None` if the format does not define it.
    pub fn unit(&self) -> Option<TimeUnit> {
        each_format!(self, it => it.unit())
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
}

/// Every operation of a request.
const ALL_OPS: &[Op] = &[Op::Read, Op::Write, Op::Trim, Op::Flush];

/// `ns` in units of 10^`digits` ns, with that many decimals.
fn decimal(ns: u64, digits: usize) -> String {
    let unit = 10u64.pow(digits as u32);
    format!("{}.{:0digits$}", ns / unit, ns % unit)
}
