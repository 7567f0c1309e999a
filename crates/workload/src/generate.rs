//! Generator of small deterministic traces in every format, for tests and examples.

use crate::trace::format::Format;
use crate::trace::packing::Packing;
use interpulse_engine::{Op, Request, Rng, SimTime, Streams};
use std::io::{self, Write};

/// Request as recorded in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Arrival time.
    pub at: SimTime,
    /// Device number.
    pub device: u32,
    /// Request.
    pub request: Request,
}

/// Parameters of a generated trace. Equal recipes give equal requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceRecipe {
    /// Number of requests.
    pub rows: u64,
    /// Number of devices, at least 1; numbered from 0.
    pub devices: u32,
    /// Sectors of each device, at least 256.
    pub device_sectors: u64,
    /// Percentage of reads.
    pub read_percent: u64,
    /// Percentage of discards, at the expense of the writes; for formats that hold them.
    pub discard_percent: u64,
    /// Percentage of flushes, likewise.
    pub flush_percent: u64,
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
            discard_percent: 0,
            flush_percent: 0,
            gap_us_max: 200,
            seed: 1,
        }
    }
}

impl TraceRecipe {
    /// Generates the requests: 4 to 128 KiB, aligned to 4 KiB, the first at time zero, all at whole us, which every
    /// format stores exactly.
    pub fn requests(&self) -> impl Iterator<Item = Recorded> + use<> {
        let recipe = self.clone();
        let mut rng: Rng = Streams::new(recipe.seed).stream("generate.trace", 0);
        let mut now_us = 0;
        (0..recipe.rows).map(move |row| {
            if row > 0 {
                now_us += rng.below(recipe.gap_us_max + 1);
            }
            let drawn = rng.below(100);
            let flushes = 100 - recipe.flush_percent;
            let op = match drawn {
                _ if drawn < recipe.read_percent => Op::Read,
                _ if drawn >= flushes => Op::Flush,
                _ if drawn >= flushes - recipe.discard_percent => Op::Trim,
                _ => Op::Write,
            };
            let sectors = 8 << rng.below(6);
            let positions = (recipe.device_sectors - sectors) / 8 + 1;
            let device = rng.below(u64::from(recipe.devices)) as u32;
            let request = Request::new(op, 8 * rng.below(positions), sectors as u32);
            let request = if op == Op::Flush { Request::FLUSH } else { request };
            Recorded { at: SimTime(now_us * 1000), device, request }
        })
    }
}

/// Writes requests as rows of `format`. Times finer than the resolution of the format are rounded down.
///
/// Errors: `InvalidInput` for [`Format::Auto`] and for operations that the format cannot hold; errors of `out`.
pub fn write_trace(
    out: &mut dyn Write,
    format: Format,
    requests: impl IntoIterator<Item = Recorded>,
) -> io::Result<()> {
    for Recorded { at, device, request } in requests {
        if !format.holds(request.op) {
            let what = if request.op == Op::Flush { "flushes" } else { "discards" };
            let message = format!("the format {} cannot hold {what}; fio and blkparse can", format.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        format.write(out, at.as_ns(), device, request)?;
    }
    Ok(())
}

/// Bytes of a trace file: the rows of a recipe, packed.
pub fn trace_bytes(recipe: &TraceRecipe, format: Format, packing: Packing) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    write_trace(&mut text, format, recipe.requests())?;
    pack(&text, packing)
}

/// Packs bytes deterministically (for one version of the compressors).
pub fn pack(bytes: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
    let mut writer = packing.writer(Vec::new())?;
    writer.write_all(bytes)?;
    writer.finish()
}
