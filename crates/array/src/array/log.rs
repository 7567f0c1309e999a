//! Partial parity goes to its log; see [`crate::ppl`].

use super::{Array, Command, request_of};
use crate::outbox::PageMove;
use crate::ppl::{LogRow, NO_LOG, Unit};
use interpulse_engine::{Agenda, Op};

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
                let request = request_of(Op::Write, self.layout.rows + from, pages);
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
