//! Small deterministic traces in any of the formats, for tests and examples.

use crate::trace::format::Format;
use crate::trace::packing::Packing;
use interpulse_engine::{Op, Request, Rng, SimTime, Streams};
use std::io::{self, Write};

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
    for Recorded { at, device, request } in requests {
        if !matches!(request.op, Op::Read | Op::Write) {
            let message = "traces hold reads and writes only";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        format.write(out, at.as_ns(), device, request)?;
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
