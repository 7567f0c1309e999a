//! What the first pass over a trace found.

use super::packing::Packing;
use interpulse_engine::{Bytes, Duration};

/// Totals of a trace. Times are as recorded, before the speed factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceSummary {
    /// Name of the format, never `auto`.
    pub format: &'static str,
    /// Name of the unit of its times.
    pub time_unit: &'static str,
    /// What was assumed about them, in words, and how to say otherwise.
    pub assumed: String,
    /// How the file is packed.
    pub packing: Packing,
    /// Good rows: the requests that are replayed.
    pub rows: u64,
    /// Rows that were skipped because they cannot be read.
    pub bad_rows: u64,
    /// The first ten bad rows, in words, with line numbers.
    pub first_bad_rows: Vec<String>,
    /// Rows that are no reads or writes, which are left out.
    pub other_rows: u64,
    /// Rows whose time lay before that of an earlier row and was lifted to it.
    pub late_rows: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Sum of the sizes of the reads, in whole sectors.
    pub read_bytes: Bytes,
    /// Sum of the sizes of the writes, in whole sectors.
    pub written_bytes: Bytes,
    /// From the first row to the latest.
    pub span: Duration,
    /// Shortest time between two rows; `None` with fewer than two rows.
    pub min_gap: Option<Duration>,
    /// Requests handed out so far of which some lies beyond the end of the drive: `fit` moved them.
    pub beyond: u64,
    /// Requests handed out so far.
    pub replayed: u64,
    /// The devices in the order in which they are placed: ascending host and number.
    pub devices: Vec<DeviceSummary>,
}

impl TraceSummary {
    /// One past the highest sector touched, as the devices are placed and before `fit` moves anything.
    pub fn end_sector(&self) -> u64 {
        self.devices.last().map_or(0, |last| last.placed_at + last.end_sector)
    }
}

/// One device of a trace.
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
    /// Where the device's sector 0 is placed, before `fold` or `scale`, in sectors.
    pub placed_at: u64,
}
