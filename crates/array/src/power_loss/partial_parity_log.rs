//! Partial parity log (PPL), as in md (`consistency = "ppl"`): before a row is written, the parity of its unchanged pages goes
//! to a log on the drive of its parity.
//!
//! XORed with the changing pages, old or new, it gives a parity that fits the row, so a drive that is missing after a power cut
//! loses only the data that was being written to it. md: `ppl_write_stripe` and `ppl_recover` in drivers/md/raid5-ppl.c,
//! Documentation/driver-api/md/raid5-ppl.rst.
//!
//! Rows of one instant with parity on the same drive share a log write: a header page, and a page of partial parity for each
//! row that is not a full-stripe write. Each drive has a ring of log pages behind its rows. A log write frees its ring pages
//! when it is the oldest and all its rows are written; headers name the oldest log write in use.

use std::collections::VecDeque;

/// Row of a log write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogRow {
    pub(crate) head: u32,
    pub(crate) row: u32,
    /// Data pages that change (bit mask).
    pub(crate) changes: u32,
    /// Pages to write, parity included.
    pub(crate) pages: u32,
    /// Partial parity of a sampled row; none for a full-stripe write.
    pub(crate) partial: u64,
    pub(crate) whole: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) number: u64,
    pub(crate) pages: u32,
    /// Ring pages used, including those skipped at the end of the ring.
    pub(crate) room: u32,
    /// It has reached its drive.
    pub(crate) durable: bool,
    pub(crate) rows: Vec<LogRow>,
    pub(crate) left: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) waiting: Vec<LogRow>,
    pub(crate) units: VecDeque<Unit>,
    pub(crate) next: u64,
    pub(crate) at: u32,
    pub(crate) used: u32,
}

pub(crate) struct Ppl {
    pub(crate) logs: Vec<Log>,
    /// Drive and log write of each stripe head.
    pub(crate) of_head: Vec<(u32, u64)>,
    pub(crate) size: u32,
}

/// Stripe head without a log write.
pub(crate) const NO_LOG: (u32, u64) = (u32::MAX, 0);

impl Ppl {
    pub(crate) fn new(drives: u32, size: u32) -> Ppl {
        Ppl { logs: vec![Log::default(); drives as usize], of_head: Vec::new(), size }
    }

    /// Drops volatile state at a power cut. Returns the rows in the durable logs.
    pub(crate) fn lose_power(&mut self) -> Vec<LogRow> {
        let mut rows = Vec::new();
        for log in &mut self.logs {
            for unit in log.units.drain(..).filter(|unit| unit.durable && unit.left > 0) {
                rows.extend(unit.rows);
            }
            *log = Log::default();
        }
        self.of_head.clear();
        rows
    }
}
