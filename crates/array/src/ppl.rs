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

use crate::array::{Array, Command, UNIT_SECTORS};
use crate::outbox::PageMove;
use interpulse_engine::{Agenda, Op, Request};
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
struct Unit {
    number: u64,
    pages: u32,
    /// Pages of the ring that it takes, those skipped at the end included.
    room: u32,
    /// It is on its drive.
    durable: bool,
    rows: Vec<LogRow>,
    left: u32,
}

/// The log of one drive.
#[derive(Clone, Debug, Default)]
struct Log {
    waiting: Vec<LogRow>,
    units: VecDeque<Unit>,
    next: u64,
    /// The next page of the ring.
    at: u32,
    used: u32,
}

/// The logs of an array.
pub(crate) struct Ppl {
    logs: Vec<Log>,
    /// Drive and log write of the row in each head.
    of_head: Vec<(u32, u64)>,
    /// Pages of each ring.
    size: u32,
}

const NO_LOG: (u32, u64) = (u32::MAX, 0);

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

impl Array {
    /// `row` waits for its log on `parity`; true if there is such a log.
    pub(crate) fn log_row(&mut self, parity: u32, row: LogRow) -> bool {
        match &mut self.ppl {
            Some(ppl) if self.slots[parity as usize].is_some() => {
                ppl.logs[parity as usize].waiting.push(row);
                true
            }
            _ => false,
        }
    }

    /// Writes the logs of rows that wait, as far as there is room.
    pub(crate) fn write_logs(&mut self, agenda: &mut Agenda) {
        for drive in 0..self.spec.drives {
            while let Some((unit, from)) = self.next_log(drive) {
                let log = &mut self.ppl.as_mut().expect("there is a log").logs[drive as usize];
                let (number, pages) = (unit.number, unit.pages);
                log.units.push_back(unit);
                let Some(physical) = self.slots[drive as usize] else {
                    // The drive has been lost since: nothing is logged where no parity is.
                    self.logged(agenda, drive, number);
                    continue;
                };
                self.counters.log_writes += 1;
                self.counters.log_pages += u64::from(pages);
                let sector = u64::from(self.layout.rows + from) * UNIT_SECTORS;
                let sectors = pages * UNIT_SECTORS as u32;
                let request = Request { op: Op::Write, sector, sectors };
                self.command(agenda, physical, request, Command::Log { drive, unit: number });
            }
        }
    }

    /// The next log write of `drive` and its place in the ring, if rows wait and there is room.
    fn next_log(&mut self, drive: u32) -> Option<(Unit, u32)> {
        let ppl = self.ppl.as_mut()?;
        let (size, log) = (ppl.size, &mut ppl.logs[drive as usize]);
        let (mut pages, mut count) = (1, 0);
        for row in &log.waiting {
            let with = pages + u32::from(!row.whole);
            if with > size {
                break;
            }
            (pages, count) = (with, count + 1);
        }
        if count == 0 {
            return None;
        }
        // A log write does not go around the end of the ring.
        let wraps = log.at + pages > size;
        let skipped = if wraps { size - log.at } else { 0 };
        if !log.units.is_empty() && log.used + skipped + pages > size {
            return None;
        }
        if log.units.is_empty() {
            log.used = 0;
        }
        let from = if wraps { 0 } else { log.at };
        log.at = from + pages;
        log.used += skipped + pages;
        let rows: Vec<LogRow> = log.waiting.drain(..count).collect();
        let number = log.next;
        log.next += 1;
        for row in &rows {
            if ppl.of_head.len() <= row.head as usize {
                ppl.of_head.resize(row.head as usize + 1, NO_LOG);
            }
            ppl.of_head[row.head as usize] = (drive, number);
        }
        let left = rows.len() as u32;
        Some((Unit { number, pages, room: skipped + pages, durable: false, rows, left }, from))
    }

    /// A log write is on its drive: its rows are written.
    pub(crate) fn logged(&mut self, agenda: &mut Agenda, drive: u32, number: u64) {
        let log = &mut self.ppl.as_mut().expect("there is a log").logs[drive as usize];
        let unit = log.units.iter_mut().find(|unit| unit.number == number).expect("it is being written");
        unit.durable = true;
        for row in unit.rows.clone() {
            for to in (0..self.spec.drives).filter(|d| row.pages >> d & 1 == 1) {
                if self.slots[to as usize].is_some() {
                    let (head, alone) = (row.head, false);
                    self.outbox.push(PageMove { drive: to, write: true, row: row.row, head, alone });
                } else {
                    // Lost while the log was being written.
                    self.page_moved(agenda, row.head, to, false);
                }
            }
        }
    }

    /// The row in `h` is written: its log is not needed any more.
    pub(crate) fn log_done(&mut self, h: u32) {
        let Some(ppl) = &mut self.ppl else { return };
        let Some(of) = ppl.of_head.get_mut(h as usize) else { return };
        let (drive, number) = std::mem::replace(of, NO_LOG);
        if drive == NO_LOG.0 {
            return;
        }
        let log = &mut ppl.logs[drive as usize];
        let unit =
            log.units.iter_mut().find(|unit| unit.number == number).expect("it has rows to be written");
        unit.left -= 1;
        while log.units.front().is_some_and(|unit| unit.durable && unit.left == 0) {
            log.used -= log.units.pop_front().expect("just looked at").room;
        }
    }
}
