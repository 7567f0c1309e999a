//! Outcome of a rewrite: totals of its inputs, what was written, errors.

use crate::trace::problem::TraceError;
use interpulse_engine::SECTOR;
use std::io;

/// What a rewrite wrote.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// Formats of the inputs, in their order.
    pub read_as: Vec<&'static str>,
    /// Assumptions about the inputs, in their order.
    pub assumed: Vec<String>,
    /// Rows of the inputs that are requests.
    pub rows_read: u64,
    /// Rows written.
    pub rows_written: u64,
    /// Format of the output.
    pub format: &'static str,
    /// Number of devices in the output.
    pub devices: usize,
    /// Losses and changes, in words.
    pub notes: Vec<String>,
}

/// Error of a rewrite.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// Fault of an input.
    #[error("{0}")]
    Trace(Box<TraceError>),
    /// Combination that is refused.
    #[error("{0}")]
    Refused(String),
    /// The output cannot be written.
    #[error("cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// Alignment of concatenated devices: 1 MiB in sectors.
pub(super) const ALIGNMENT: u64 = (1 << 20) / SECTOR.get();

/// Totals of all inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overview {
    pub(super) rows: u64,
    /// From the first row to the last of the merged rows.
    pub(super) span_ns: u64,
    /// Whether the inputs have times.
    pub(super) timed: bool,
    /// First and last sector of all devices side by side.
    pub(super) first_sector: u64,
    pub(super) end_sector: u64,
    pub(super) largest_sectors: u32,
}
