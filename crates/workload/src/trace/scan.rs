//! First pass over a trace: row checks, extents and totals.

use super::detect::Detected;
use super::device::{DeviceKey, Devices};
use super::input::{Input, Stamp};
use super::position::Position;
use super::problem::TraceProblem;
use super::spec::TraceSpec;
use super::stream::{Row, RowStream};
use super::summary::{DeviceSummary, TraceSummary};
use interpulse_engine::{Bytes, Duration, Op, SECTOR};
use std::sync::Arc;

/// Alignment of devices: 1 MiB in sectors.
const PLACE_ALIGNMENT: u64 = (1 << 20) / SECTOR.get();

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
    pub(super) fn key(&self, device: usize) -> &DeviceKey {
        let found = self.devices.ascending().find(|&(index, _)| index == device);
        found.expect("every extent has a device").1
    }
}

pub(crate) fn scan(input: &Input, spec: &TraceSpec) -> Result<Found, TraceProblem> {
    let mut rows = RowStream::first(input, spec)?;
    let mut totals = Totals::default();
    while let Some(row) = rows.next()? {
        totals.count(&row);
    }
    let packing = rows.packing();
    let (detected, devices, skipped_rows) = rows.into_found();
    skipped_rows.require_good_row(totals.rows)?;
    let mut placed_at = 0;
    let mut placed = Vec::new();
    let mut summaries = Vec::new();
    for (index, key) in devices.ascending() {
        let extent = totals.extents[index];
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
    Ok(Found {
        summary: TraceSummary {
            format: detected.format.name(),
            time_unit: detected.unit.name(),
            assumed: detected.assumed.clone(),
            packing,
            rows: totals.rows,
            bad_rows: skipped_rows.bad,
            first_bad_rows: skipped_rows.first_bad,
            other_rows: skipped_rows.other,
            late_rows: totals.late,
            reads: totals.reads,
            writes: totals.rows - totals.reads,
            read_bytes: Bytes(totals.read_sectors * SECTOR.get()),
            written_bytes: Bytes(totals.written_sectors * SECTOR.get()),
            span: Duration(totals.latest_ns),
            min_gap: totals.min_gap_ns.map(Duration),
            beyond: 0,
            replayed: 0,
            devices: summaries,
        },
        detected,
        devices,
        extents: totals.extents,
        placed,
        largest_sectors: totals.largest_sectors,
        largest_line: totals.largest_line,
    })
}

#[derive(Default)]
struct Totals {
    rows: u64,
    late: u64,
    reads: u64,
    read_sectors: u64,
    written_sectors: u64,
    latest_ns: u64,
    min_gap_ns: Option<u64>,
    extents: Vec<Extent>,
    largest_sectors: u32,
    largest_line: Position,
}

impl Totals {
    fn count(&mut self, row: &Row) {
        if self.rows > 0 {
            let gap_ns = row.at_ns - self.latest_ns;
            self.min_gap_ns = Some(self.min_gap_ns.map_or(gap_ns, |least| least.min(gap_ns)));
        }
        self.rows += 1;
        self.latest_ns = row.at_ns;
        self.late += u64::from(row.late);
        if row.op == Op::Read {
            self.reads += 1;
            self.read_sectors += u64::from(row.sectors);
        } else {
            self.written_sectors += u64::from(row.sectors);
        }
        if row.sectors > self.largest_sectors {
            (self.largest_sectors, self.largest_line) = (row.sectors, row.line);
        }
        let end = row.sector + u64::from(row.sectors);
        match self.extents.get_mut(row.device as usize) {
            None => self.extents.push(Extent { rows: 1, first: row.sector, end, end_line: row.line }),
            Some(extent) => {
                extent.rows += 1;
                extent.first = extent.first.min(row.sector);
                if end > extent.end {
                    (extent.end, extent.end_line) = (end, row.line);
                }
            }
        }
    }
}
