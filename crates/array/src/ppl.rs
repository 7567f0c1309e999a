//! The partial parity log, as md keeps it (`consistency = "ppl"`): before a row is written, what its parity would be
//! without the pages that change goes to a log on the drive of its parity.
//!
//! XORed with the changing pages, whichever of them have reached their drives, it makes a parity that fits the row. So a
//! drive that is missing after a power cut loses nothing but what was being written to it. md: `ppl_write_stripe` and
//! `ppl_recover` in drivers/md/raid5-ppl.c, Documentation/driver-api/md/raid5-ppl.rst.
//!
//! Rows of one instant with their parity on the same drive share a log write: a header page, and a page of partial parity
//! for each row that is not overwritten whole. Each drive has a ring of log pages behind its rows. The place of a log
//! write is free again when it is the oldest and all its rows are written; the headers name the oldest that is not.

use std::collections::VecDeque;

/// A row that waits for its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogRow {
    pub(crate) head: u32,
    pub(crate) row: u32,
    /// Data pages that change, one bit per drive.
    pub(crate) changes: u32,
    /// Pages that will be written, parity included.
    pub(crate) pages: u32,
    /// Its partial parity, if the row is followed and not overwritten whole.
    pub(crate) partial: u64,
    /// It is overwritten whole.
    pub(crate) whole: bool,
}

/// One log write and the rows it is for.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) number: u64,
    pub(crate) pages: u32,
    /// Pages of the ring that it takes, those skipped at the end included.
    pub(crate) room: u32,
    /// It is on its drive.
    pub(crate) durable: bool,
    pub(crate) rows: Vec<LogRow>,
    pub(crate) left: u32,
}

/// The log of one drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) waiting: Vec<LogRow>,
    pub(crate) units: VecDeque<Unit>,
    pub(crate) next: u64,
    /// The next page of the ring.
    pub(crate) at: u32,
    pub(crate) used: u32,
}

/// The logs of an array.
pub(crate) struct Ppl {
    pub(crate) logs: Vec<Log>,
    /// Drive and log write of the row in each head.
    pub(crate) of_head: Vec<(u32, u64)>,
    /// Pages of each ring.
    pub(crate) size: u32,
}

/// Of a row without a log.
pub(crate) const NO_LOG: (u32, u64) = (u32::MAX, 0);

impl Ppl {
    pub(crate) fn new(drives: u32, size: u32) -> Ppl {
        Ppl { logs: vec![Log::default(); drives as usize], of_head: Vec::new(), size }
    }

    /// Power is cut: what was in memory is gone. Returns the rows that logs on the drives speak of, with the drive of
    /// each log.
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
