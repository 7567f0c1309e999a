//! First pass over a trace: row checks, extents and totals.

use super::detect::Detected;
use super::device::{DeviceKey, Devices};
use super::input::{Input, Stamp};
use super::position::Position;
use super::problem::TraceProblem;
use super::row::WithFlush;
use super::selection::Selection;
use super::spec::TraceSpec;
use super::stream::{Row, RowStream};
use super::summary::{DeviceSummary, TraceSummary};
use interpulse_engine::{Bytes, Duration, Op, SECTOR};
use std::sync::Arc;

/// Alignment of devices: 1 MiB in sectors.
pub(super) const PLACE_ALIGNMENT: u64 = (1 << 20) / SECTOR.get();

/// Rows between two calls of the `count` function of [`scan_watched`].
const WATCHED_ROWS: u64 = 1 << 14;

/// Result of the first pass over a trace, shared by several replays.
#[derive(Clone)]
pub struct FirstReading {
    found: Arc<Found>,
    spec: TraceSpec,
    /// Stamp of the file; `None` if unavailable.
    stamp: Option<Stamp>,
}

impl FirstReading {
    pub(super) fn of(input: &Input, spec: &TraceSpec) -> Result<FirstReading, TraceProblem> {
        // Taken before reading, so that concurrent writes invalidate it.
        let stamp = input.stamp();
        Ok(FirstReading { found: Arc::new(scan(input, spec)?), spec: spec.clone(), stamp })
    }

    /// Whether the pass applies to this input and these settings, and the file is unchanged.
    pub(super) fn is_of(&self, input: &Input, spec: &TraceSpec) -> bool {
        self.spec == *spec && self.stamp.is_some() && self.stamp == input.stamp()
    }

    pub(super) fn found(&self) -> &Found {
        &self.found
    }
}

pub(crate) struct Found {
    pub summary: TraceSummary,
    pub(super) detected: Detected,
    pub(super) devices: Devices,
    pub(super) selection: Selection,
    /// By device, in order of first appearance.
    pub(super) extents: Vec<Extent>,
    /// Indices of the devices in the order of `summary.devices`.
    pub(super) placed: Vec<usize>,
    pub(super) largest_sectors: u32,
    pub(super) largest_line: Position,
}

#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub rows: u64,
    pub first: u64,
    pub end: u64,
    /// The line that reaches `end`.
    pub end_line: Position,
}

impl Found {
    /// Rows of another pass.
    pub(super) fn rows(&self, input: &Input, spec: &TraceSpec) -> Result<RowStream, TraceProblem> {
        RowStream::again(input, spec, self.detected.clone(), self.devices.clone(), self.selection.clone())
    }

    pub(super) fn key(&self, device: usize) -> &DeviceKey {
        let found = self.devices.ascending().find(|&(index, _)| index == device);
        found.expect("every extent has a device").1
    }
}

pub(crate) fn scan(input: &Input, spec: &TraceSpec) -> Result<Found, TraceProblem> {
    Ok(scan_watched(input, spec, &mut |_| true)?.expect("nothing stops the scan"))
}

/// Scans a trace. `count` gets the rows since its last call and returns false to stop, which gives `None`.
pub(super) fn scan_watched(
    input: &Input,
    spec: &TraceSpec,
    count: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Found>, TraceProblem> {
    let mut rows = RowStream::first(input, spec)?;
    let Some(mut totals) = Totals::of(&mut rows, count)? else { return Ok(None) };
    if let Some(lowest) = rows.unstacked(input, spec)? {
        rows = lowest;
        let Some(again) = Totals::of(&mut rows, count)? else { return Ok(None) };
        totals = again;
    }
    let packing = rows.packing();
    let (detected, devices, selection, skipped_rows) = rows.into_found();
    skipped_rows.require_good_row(totals.rows)?;
    let mut placed_at = 0;
    let mut placed = Vec::new();
    let mut summaries = Vec::new();
    for (index, key) in devices.ascending() {
        let extent = &mut totals.extents[index];
        // A device that was only flushed.
        extent.first = extent.first.min(extent.end);
        summaries.push(DeviceSummary {
            host: key.host.clone(),
            number: key.number,
            rows: extent.rows,
            first_sector: extent.first,
            end_sector: extent.end,
            placed_at,
        });
        placed.push(index);
        placed_at += extent.end.next_multiple_of(PLACE_ALIGNMENT);
    }
    Ok(Some(Found {
        summary: TraceSummary {
            format: detected.format.name(),
            time_unit: detected.unit.name(),
            assumed: detected.assumed.clone(),
            packing,
            rows: totals.rows,
            bad_rows: skipped_rows.bad,
            first_bad_rows: skipped_rows.first_bad,
            other_rows: skipped_rows.other,
            skipped_discards: skipped_rows.discards,
            skipped_flushes: skipped_rows.flushes,
            stacked_rows: skipped_rows.stacked,
            unselected_rows: skipped_rows.unselected,
            late_rows: totals.late,
            reads: totals.reads,
            writes: totals.writes,
            discards: totals.discards,
            flushes: totals.flushes + totals.flushes_of_writes,
            flushes_of_writes: totals.flushes_of_writes,
            requests: totals.rows + totals.flushes_of_writes,
            passes: spec.repeat.passes,
            read_bytes: Bytes(totals.read_sectors * SECTOR.get()),
            written_bytes: Bytes(totals.written_sectors * SECTOR.get()),
            discarded_bytes: Bytes(totals.discarded_sectors * SECTOR.get()),
            waits: totals.waits,
            span: Duration(totals.latest_ns),
            min_gap: totals.min_gap_ns.map(Duration),
            beyond: 0,
            replayed: 0,
            devices: summaries,
        },
        detected,
        devices,
        selection,
        extents: totals.extents,
        placed,
        largest_sectors: totals.largest_sectors,
        largest_line: totals.largest_line,
    }))
}

#[derive(Default)]
struct Totals {
    rows: u64,
    late: u64,
    reads: u64,
    writes: u64,
    discards: u64,
    flushes: u64,
    flushes_of_writes: u64,
    waits: u64,
    read_sectors: u64,
    written_sectors: u64,
    discarded_sectors: u64,
    latest_ns: u64,
    min_gap_ns: Option<u64>,
    extents: Vec<Extent>,
    largest_sectors: u32,
    largest_line: Position,
}

impl Totals {
    fn of(rows: &mut RowStream, count: &mut dyn FnMut(u64) -> bool) -> Result<Option<Totals>, TraceProblem> {
        let mut totals = Totals::default();
        while let Some(row) = rows.next()? {
            totals.count(&row);
            if totals.rows.is_multiple_of(WATCHED_ROWS) && !count(WATCHED_ROWS) {
                return Ok(None);
            }
        }
        Ok(Some(totals))
    }

    fn count(&mut self, row: &Row) {
        if self.rows > 0 {
            let gap_ns = row.at_ns - self.latest_ns;
            self.min_gap_ns = Some(self.min_gap_ns.map_or(gap_ns, |least| least.min(gap_ns)));
        }
        self.rows += 1;
        self.latest_ns = row.at_ns;
        self.late += u64::from(row.late);
        self.waits += u64::from(row.wait_us > 0);
        let sectors = u64::from(row.sectors);
        let (count, volume) = match row.op {
            Op::Read => (&mut self.reads, &mut self.read_sectors),
            Op::Write => (&mut self.writes, &mut self.written_sectors),
            Op::Trim => (&mut self.discards, &mut self.discarded_sectors),
            Op::Flush => {
                self.flushes += 1;
                return self.count_extent(row, None);
            }
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => {
                unreachable!("a trace has no such command")
            }
        };
        *count += 1;
        *volume = volume.saturating_add(sectors);
        self.flushes_of_writes += u64::from(row.flush != WithFlush::None);
        // A discard can be larger than the drive.
        if row.op != Op::Trim && row.sectors > self.largest_sectors {
            (self.largest_sectors, self.largest_line) = (row.sectors, row.line);
        }
        self.count_extent(row, Some(row.sector + sectors));
    }

    /// Counts a row of its device, and its sectors up to `end`, if it has any.
    fn count_extent(&mut self, row: &Row, end: Option<u64>) {
        let device = row.device as usize;
        if device == self.extents.len() {
            self.extents.push(Extent { rows: 0, first: u64::MAX, end: 0, end_line: row.line });
        }
        let extent = &mut self.extents[device];
        extent.rows += 1;
        let Some(end) = end else { return };
        extent.first = extent.first.min(row.sector);
        if end > extent.end {
            (extent.end, extent.end_line) = (end, row.line);
        }
    }
}
