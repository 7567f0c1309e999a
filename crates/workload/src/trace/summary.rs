//! Trace summary: totals of the first pass.

use super::packing::Packing;
use interpulse_engine::{Bytes, Duration};

/// Totals of a trace. Times are as recorded, before the speed factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceSummary {
    /// Format name, never `auto`.
    pub format: &'static str,
    /// Time unit name.
    pub time_unit: &'static str,
    /// Assumptions about format and unit, with the settings that override them.
    pub assumed: String,
    /// Compression of the file.
    pub packing: Packing,
    /// Good rows, which are replayed as requests.
    pub rows: u64,
    /// Bad rows skipped.
    pub bad_rows: u64,
    /// Messages of the first ten bad rows, with line numbers.
    pub first_bad_rows: Vec<String>,
    /// Rows ignored because they are no requests.
    pub other_rows: u64,
    /// Discards left out.
    pub skipped_discards: u64,
    /// Flushes left out, those of writes included.
    pub skipped_flushes: u64,
    /// Requests of stacked devices left out, whose lower device is replayed.
    pub stacked_rows: u64,
    /// Requests of devices that were not selected.
    pub unselected_rows: u64,
    /// Rows whose time was raised to that of an earlier row.
    pub late_rows: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Discards.
    pub discards: u64,
    /// Flushes, those of writes included.
    pub flushes: u64,
    /// Flushes of writes, which have no row of their own.
    pub flushes_of_writes: u64,
    /// Requests of one pass: rows, and flushes of writes.
    pub requests: u64,
    /// Passes over the trace.
    pub passes: u32,
    /// Sum of the sizes of the reads, in whole sectors.
    pub read_bytes: Bytes,
    /// Sum of the sizes of the writes, in whole sectors.
    pub written_bytes: Bytes,
    /// Sum of the sizes of the discards, in whole sectors.
    pub discarded_bytes: Bytes,
    /// Pauses between requests, in a trace without times.
    pub waits: u64,
    /// Time from the first row to the latest.
    pub span: Duration,
    /// Shortest time between two rows; `None` with fewer than two rows.
    pub min_gap: Option<Duration>,
    /// Rows replayed so far that exceeded the drive before `fit` moved them.
    pub beyond: u64,
    /// Requests returned so far.
    pub replayed: u64,
    /// Devices in placement order: ascending host and number.
    pub devices: Vec<DeviceSummary>,
}

impl TraceSummary {
    /// One past the highest sector of the placed devices, before `fit`.
    pub fn end_sector(&self) -> u64 {
        self.devices.last().map_or(0, |last| last.placed_at + last.end_sector)
    }
}

/// Device of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceSummary {
    /// Host name; empty in formats without one.
    pub host: String,
    /// Device number.
    pub number: u32,
    /// Good rows.
    pub rows: u64,
    /// Lowest sector touched.
    pub first_sector: u64,
    /// One past the highest sector touched.
    pub end_sector: u64,
    /// Placement of sector 0 of the device, before `fold` or `scale`, in sectors.
    pub placed_at: u64,
}
