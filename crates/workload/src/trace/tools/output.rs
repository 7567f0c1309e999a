//! Output of a rewrite: rows in the target format, each parsed again and compared with its request.

use super::merge::Merged;
use super::outcome::{Overview, RewriteError, Rewritten};
use crate::trace::address_units::Scale;
use crate::trace::device::DeviceKey;
use crate::trace::format::Format;
use crate::trace::lines::Raw;
use crate::trace::row::ParsedRow;
use crate::trace::unit::TimeUnit;
use interpulse_engine::{Op, Request};
use std::io::Write;

pub(super) struct Output<'o> {
    out: &'o mut dyn Write,
    format: Format,
    unit: TimeUnit,
    /// Devices with the names that the format holds.
    devices: Vec<DeviceKey>,
    renamed: Vec<String>,
    row: Vec<u8>,
    rows: u64,
    origin_ns: Option<u64>,
    rounded: u64,
    flushes_of_writes: u64,
    waits: u64,
}

impl<'o> Output<'o> {
    /// Errors: a format that cannot be written.
    pub fn new(
        out: &'o mut dyn Write,
        format: Format,
        devices: Vec<DeviceKey>,
        anonymous: bool,
    ) -> Result<Output<'o>, RewriteError> {
        let format = match format {
            Format::Columns(_) => {
                Format::readers().find(|format| format.name() == "columns").unwrap_or(format)
            }
            Format::Auto | Format::Ascii(_) => {
                return Err(RewriteError::Refused(format!(
                    "--to: seen {:?}; expected a format with a unit of its own: mqsim, ssdsim or disksim-ascii have the \
                     columns of ascii",
                    format.name()
                )));
            }
            format if !(format.holds(Op::Read) && format.holds(Op::Write)) => {
                return Err(RewriteError::Refused(format!(
                    "--to: seen {:?}; expected a format whose rows hold operations and addresses",
                    format.name()
                )));
            }
            format => format,
        };
        let unit = format.unit().unwrap_or(TimeUnit::Us);
        let held = |key: &DeviceKey| format.holds_host(&key.host);
        let mut renamed = Vec::new();
        let devices = if !anonymous && devices.iter().all(held) {
            devices
        } else {
            let unique = |(index, key): (usize, &DeviceKey)| {
                devices[..index].iter().all(|other| other.number != key.number)
            };
            let numbers_do = !anonymous && devices.iter().enumerate().all(unique);
            let number = |(index, key): (usize, &DeviceKey)| {
                let number = if numbers_do { key.number } else { index as u32 };
                if !anonymous && renamed.len() < 20 {
                    renamed.push(format!("{} is {number}", key.name()));
                }
                DeviceKey { host: String::new(), number }
            };
            devices.iter().enumerate().map(number).collect()
        };
        Ok(Output {
            out,
            format,
            unit,
            devices,
            renamed,
            row: Vec::new(),
            rows: 0,
            origin_ns: None,
            rounded: 0,
            flushes_of_writes: 0,
            waits: 0,
        })
    }

    /// Rows written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes what precedes the rows. Errors: times that the input does not have.
    pub fn begin(&mut self, timed: bool) -> Result<(), RewriteError> {
        if !timed && self.format.has_times() {
            return Err(RewriteError::Refused(format!(
                "the trace has no times, which the format {} needs; legal: --to fio-v2, or `trace scale --iops`, which \
                 gives it even gaps",
                self.format.name()
            )));
        }
        let names: Vec<(&str, u32)> =
            self.devices.iter().map(|key| (key.host.as_str(), key.number)).collect();
        self.format.write_heading(self.out, &names)?;
        Ok(())
    }

    /// Writes the flush of a durable write as a row.
    pub fn flush_of_write(&mut self, row: &Merged) -> Result<(), RewriteError> {
        self.flushes_of_writes += 1;
        self.write(row, Request::FLUSH)
    }

    /// Errors: the format cannot hold the request.
    pub fn write(&mut self, row: &Merged, request: Request) -> Result<(), RewriteError> {
        if !self.format.holds(request.op) {
            let (what, key) = match request.op {
                Op::Flush => ("flushes", "flushes"),
                _ => ("discards", "discards"),
            };
            let holding: Vec<_> = Format::readers()
                .filter(|format| format.holds(request.op))
                .map(|format| format.name())
                .collect();
            return Err(RewriteError::Refused(format!(
                "{}: the format {} cannot hold {what}; legal: --{key} skip, or --to {}",
                row.line,
                self.format.name(),
                holding.join(", ")
            )));
        }
        let device = &self.devices[(row.device as usize).min(self.devices.len() - 1)];
        self.row.clear();
        self.format.write_named(&mut self.row, row.at_ns, &device.host, device.number, request)?;
        self.check(row, request)?;
        self.out.write_all(&self.row)?;
        self.rows += 1;
        self.waits += u64::from(row.wait_us > 0);
        Ok(())
    }

    /// Compares the written row with the request.
    fn check(&mut self, row: &Merged, request: Request) -> Result<(), RewriteError> {
        let device = &self.devices[(row.device as usize).min(self.devices.len() - 1)];
        let lost = |what: &str| {
            let name = self.format.name();
            Err(RewriteError::Refused(format!("{}: the format {name} cannot hold {what}", row.line)))
        };
        let raw = match self.format.record_bytes() {
            Some(_) => Raw::Record(&self.row),
            None => Raw::Line(std::str::from_utf8(&self.row).unwrap_or_default().trim_end()),
        };
        let Ok(Some(parsed)) = self.format.parse(raw) else { return lost("this request") };
        let scale = Scale { documented: self.format.units(), actual: self.format.units() };
        let extent = scale.sectors(parsed.op, parsed.offset, parsed.size);
        if request.op != Op::Flush && extent != Ok(Some((request.sector, u64::from(request.sectors)))) {
            let (sectors, sector) = (request.sectors, request.sector);
            return lost(&format!("a request of {sectors} sectors at sector {sector}"));
        }
        if parsed.op != request.op {
            return lost("the operation");
        }
        if self.devices.len() > 1 && !is_of(&parsed, device) {
            return lost(&format!(
                "devices, of which the trace has {}; legal: `trace merge --devices concatenate`, or `trace cut --device`",
                self.devices.len()
            ));
        }
        if self.format.has_times() {
            let Ok(time_ns) = parsed.time.ns(self.unit) else { return lost("this time") };
            let origin_ns = *self.origin_ns.get_or_insert(time_ns.saturating_sub(row.at_ns));
            self.rounded += u64::from(time_ns - origin_ns != row.at_ns);
        }
        Ok(())
    }

    /// Summary; `notes` are those of the inputs.
    pub fn end(
        self,
        found: &Overview,
        mut notes: Vec<String>,
        read_as: Vec<&'static str>,
        assumed: Vec<String>,
    ) -> Rewritten {
        let name = self.format.name();
        if !self.format.has_times() && found.timed {
            notes.push(format!("the format {name} has no times: those of the trace are lost"));
        }
        for (count, what) in [
            (self.rounded, format!("time(s) rounded down to the resolution of the format {name}")),
            (self.flushes_of_writes, "flush(es) of writes written as rows of their own".to_owned()),
            (self.waits, "pause(s) between requests are lost".to_owned()),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        if !self.renamed.is_empty() {
            notes.push(format!("the format {name} holds no names of devices: {}", self.renamed.join(", ")));
        }
        Rewritten {
            read_as,
            assumed,
            rows_read: found.rows,
            rows_written: self.rows,
            format: name,
            devices: self.devices.len(),
            notes,
        }
    }
}

fn is_of(parsed: &ParsedRow<'_>, device: &DeviceKey) -> bool {
    let named = DeviceKey { host: parsed.host.to_owned(), number: parsed.device };
    named == *device
        || device.host.is_empty()
            && (parsed.device == device.number || parsed.host.ends_with(&device.number.to_string()))
        || parsed.host == device.name()
}
