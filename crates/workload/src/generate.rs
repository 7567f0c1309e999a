//! Small deterministic traces in any of the formats, for tests and examples.

use crate::trace::packing::Packing;
use crate::trace::spec::{AsciiLayout, Format, TimeUnit, TypeCode};
use interpulse_engine::{Op, Request, Rng, SECTOR, SimTime, Streams};
use std::io::{self, Write};

/// Host name in generated MSR rows.
pub const HOST: &str = "gen";
/// FILETIME (100 ns since 1601) of time zero in generated MSR rows; lies in the year 2007.
pub const FILETIME_ZERO: u64 = 128_166_400_000_000_000;

/// One request as a trace records it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// When it arrived.
    pub at: SimTime,
    /// Number of the device it went to.
    pub device: u32,
    /// A read or a write.
    pub request: Request,
}

/// A made-up trace. Two equal recipes give equal requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceRecipe {
    /// Number of requests.
    pub rows: u64,
    /// Devices, numbered from 0; at least 1.
    pub devices: u32,
    /// Sectors of each device, at least 256.
    pub device_sectors: u64,
    /// Reads in a hundred requests.
    pub read_percent: u64,
    /// Largest gap between two requests in us; gaps are uniform in 0..=this.
    pub gap_us_max: u64,
    /// Seed.
    pub seed: u64,
}

impl Default for TraceRecipe {
    /// 1,000 requests to one device of 64 MiB, 60 % reads, up to 200 us apart.
    fn default() -> Self {
        TraceRecipe {
            rows: 1000,
            devices: 1,
            device_sectors: 1 << 17,
            read_percent: 60,
            gap_us_max: 200,
            seed: 1,
        }
    }
}

impl TraceRecipe {
    /// The requests: 4 to 128 KiB long, at multiples of 4 KiB, the first at time zero, all at whole us (so
    /// that every format holds their times exactly).
    pub fn requests(&self) -> impl Iterator<Item = Recorded> + use<> {
        let recipe = self.clone();
        let mut rng: Rng = Streams::new(recipe.seed).stream("generate.trace", 0);
        let mut now_us = 0;
        (0..recipe.rows).map(move |row| {
            if row > 0 {
                now_us += rng.below(recipe.gap_us_max + 1);
            }
            let op = if rng.below(100) < recipe.read_percent { Op::Read } else { Op::Write };
            let sectors = 8 << rng.below(6);
            let places = (recipe.device_sectors - sectors) / 8 + 1;
            Recorded {
                at: SimTime(now_us * 1000),
                device: rng.below(u64::from(recipe.devices)) as u32,
                request: Request { op, sector: 8 * rng.below(places), sectors: sectors as u32 },
            }
        })
    }
}

/// Writes requests as rows of `format`. Times finer than the format's are rounded down.
///
/// Errors: `InvalidInput` for [`Format::Auto`] and for trims and flushes, which no format has; and what
/// `out` reports.
pub fn write_trace(
    out: &mut dyn Write,
    format: Format,
    requests: impl IntoIterator<Item = Recorded>,
) -> io::Result<()> {
    let ns = AsciiLayout { time: TimeUnit::Ns, types: TypeCode::ZeroWrites };
    for Recorded { at, device, request } in requests {
        let at_ns = at.as_ns();
        let Request { op, sector, sectors } = request;
        if !matches!(op, Op::Read | Op::Write) {
            return Err(invalid("traces hold reads and writes only"));
        }
        let (offset, size) = (sector * SECTOR.get(), request.bytes().get());
        match format {
            Format::Auto => return Err(invalid("a trace cannot be written as `auto`")),
            Format::Msr => {
                let time = FILETIME_ZERO + at_ns / 100;
                let kind = if op == Op::Read { "Read" } else { "Write" };
                writeln!(out, "{time},{HOST},{device},{kind},{offset},{size},0")?;
            }
            Format::Spc => {
                let opcode = if op == Op::Read { 'r' } else { 'w' };
                writeln!(out, "{device},{sector},{size},{opcode},{}", decimal(at_ns, 9))?;
            }
            Format::Ascii(layout) => ascii_row(out, layout, at_ns, device, op, sector, sectors)?,
            Format::DiskSim | Format::MqSim => ascii_row(out, ns, at_ns, device, op, sector, sectors)?,
            Format::SsdSimMs => {
                let ms = AsciiLayout { time: TimeUnit::Ms, ..ns };
                ascii_row(out, ms, at_ns, device, op, sector, sectors)?;
            }
        }
    }
    Ok(())
}

/// The rows of a recipe, packed: the bytes of a trace file.
pub fn trace_bytes(recipe: &TraceRecipe, format: Format, packing: Packing) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    write_trace(&mut text, format, recipe.requests())?;
    pack(&text, packing)
}

/// Packs bytes; the same bytes always give the same result (of one version of the packers).
pub fn pack(bytes: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
    let mut writer = packing.writer(Vec::new())?;
    writer.write_all(bytes)?;
    writer.finish()
}

fn ascii_row(
    out: &mut dyn Write,
    layout: AsciiLayout,
    at_ns: u64,
    device: u32,
    op: Op,
    sector: u64,
    sectors: u32,
) -> io::Result<()> {
    let time = match layout.time {
        TimeUnit::Ns => at_ns.to_string(),
        TimeUnit::Us => decimal(at_ns, 3),
        TimeUnit::Ms => decimal(at_ns, 6),
    };
    let one = match layout.types {
        TypeCode::ZeroWrites => Op::Read,
        TypeCode::OneWrites => Op::Write,
    };
    writeln!(out, "{time} {device} {sector} {sectors} {}", u8::from(op == one))
}

/// `ns` in units of 10^`digits` ns, with that many decimals.
fn decimal(ns: u64, digits: usize) -> String {
    let unit = 10u64.pow(digits as u32);
    format!("{}.{:0digits$}", ns / unit, ns % unit)
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
