//! Trace tools: rewrites of traces (conversion, cuts, scaling, merging, anonymisation) row by row.
//!
//! Every input is scanned first, so that faults are reported before a byte is written; the second pass streams. Every
//! written row is parsed again and compared with the request, so that a loss of the target format is refused or counted.

mod cut;
mod merge;
mod outcome;
mod output;
mod pace;
mod place;
mod scramble;

pub use cut::Cut;
pub use merge::{MergeDevices, MergeTimes};
pub use outcome::{RewriteError, Rewritten};
pub use pace::Pace;
pub use scramble::Scramble;

use super::format::Format;
use super::row::WithFlush;
use super::spec::{Fit, TraceSpec};
use interpulse_engine::{Op, Request};
use merge::{Merged, Merger};
use output::Output;
use place::Footprint;
use std::io::Write;

/// Rows between two calls of the `watch` function of [`rewrite`].
const WATCHED_ROWS: u64 = 1 << 14;

/// Progress of a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rewriting {
    /// First pass: rows checked in all inputs; how many there are is unknown.
    Checking(u64),
    /// Second pass: rows read again, and all rows.
    Writing(u64, u64),
}

/// Description of a rewrite. The steps are applied in the order of the fields.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// Traces to read, at least one.
    pub inputs: Vec<TraceSpec>,
    /// Meaning of the times of several inputs.
    pub times: MergeTimes,
    /// Identity of the devices of several inputs.
    pub devices: MergeDevices,
    /// Rows that are kept.
    pub cut: Cut,
    /// Change of the request rate.
    pub pace: Option<Pace>,
    /// Capacity in sectors, and how addresses are mapped onto it.
    pub footprint: Option<(u64, Fit)>,
    /// Permutation of the addresses.
    pub scramble: Option<Scramble>,
    /// Format of the output; default: that of the first input.
    pub format: Option<Format>,
}

/// Rewrites traces into `out`. `watch` gets the progress and returns false to stop, which gives `None`; what was written until then is incomplete.
///
/// Errors: an input cannot be read, the target format cannot hold a request, or `out` fails.
pub fn rewrite(
    spec: &Rewrite,
    out: &mut dyn Write,
    watch: &mut dyn FnMut(Rewriting) -> bool,
) -> Result<Option<Rewritten>, RewriteError> {
    let mut seen = 0u64;
    let mut count = |rows: u64| {
        seen += rows;
        watch(Rewriting::Checking(seen))
    };
    let Some(mut merger) = Merger::new(&spec.inputs, spec.times, spec.devices, &mut count)? else {
        return Ok(None);
    };
    let found = merger.overview();
    let pace = spec.pace.map(|pace| pace.factor(&found)).transpose()?;
    let footprint = match spec.footprint {
        Some((capacity, fit)) => Some(Footprint::new(capacity, fit, &found)?),
        None => None,
    };
    let mut scrambler = spec.scramble.as_ref().map(|s| s.over(merger.keys(), &merger.ends())).transpose()?;
    let format = spec.format.clone().unwrap_or_else(|| merger.format());
    let anonymous = scrambler.is_some();
    let mut output = Output::new(out, format, merger.device_names(footprint.is_some()), anonymous)?;
    let timed = found.timed || pace.is_some_and(|pace| pace.is_even());
    output.begin(timed)?;
    let mut cutter = spec.cut.over(&merger)?;
    let (mut rows, mut origin_ns) = (0u64, None);
    while let Some(mut row) = merger.next()? {
        rows += 1;
        if rows.is_multiple_of(WATCHED_ROWS) && !watch(Rewriting::Writing(rows, found.rows)) {
            return Ok(None);
        }
        match cutter.keeps(&row) {
            cut::Kept::No => continue,
            cut::Kept::End => break,
            cut::Kept::Yes => {}
        }
        // Untimed rows are numbered for an even pace.
        let at_ns = row.at_ns - *origin_ns.get_or_insert(row.at_ns);
        row.at_ns = match pace {
            None => at_ns,
            Some(pace) => pace.at(at_ns, output.rows())?,
        };
        if let Some(scrambler) = &mut scrambler {
            row.sector = scrambler.apply(&row);
        }
        emit(&row, footprint.as_ref(), &mut output)?;
    }
    if output.rows() == 0 {
        return Err(RewriteError::Refused(cutter.nothing_left(&found)));
    }
    let mut notes = merger.notes();
    notes.extend(scrambler.iter().filter_map(|scrambler| scrambler.note()));
    Ok(Some(output.end(&found, notes, merger.read_as(), merger.assumed())))
}

/// Writes the requests of a row: the write and the flush of a durable write are two rows.
fn emit(row: &Merged, footprint: Option<&Footprint>, output: &mut Output<'_>) -> Result<(), RewriteError> {
    if row.flush == WithFlush::Before {
        output.flush_of_write(row)?;
    }
    match (row.op, footprint) {
        (Op::Flush, _) => output.write(row, Request::FLUSH)?,
        (op, None) => output.write(row, Request::new(op, row.sector, row.sectors))?,
        (op, Some(footprint)) => {
            for (sector, sectors) in footprint.place(row)? {
                output.write(row, Request::new(op, sector, sectors))?;
            }
        }
    }
    if row.flush == WithFlush::After {
        output.flush_of_write(row)?;
    }
    Ok(())
}
