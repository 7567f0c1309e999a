//! Writes to the partial parity log, and the release of its pages.

use crate::array::command_batcher::PageCommand;
use crate::array::{Array, Command, request_of};
use crate::power_loss::partial_parity_log::{LogRow, NO_LOG, Unit};
use interpulse_engine::{EventQueue, Op};

impl Array {
    /// Adds `row` to the log on `parity`; false without such a log.
    pub(crate) fn log_row(&mut self, parity: u32, row: LogRow) -> bool {
        match &mut self.ppl {
            Some(ppl) if self.slots[parity as usize].is_some() => {
                ppl.logs[parity as usize].waiting.push(row);
                true
            }
            _ => false,
        }
    }

    /// Submits log writes while the rings have room.
    pub(crate) fn write_logs(&mut self, events: &mut EventQueue) {
        for drive in 0..self.spec.drives {
            while let Some((unit, from)) = self.next_log(drive) {
                let log = &mut self.ppl.as_mut().expect("there is a log").logs[drive as usize];
                let (number, pages) = (unit.number, unit.pages);
                log.units.push_back(unit);
                let Some(physical) = self.slots[drive as usize] else {
                    // The drive has failed since: without parity nothing is logged.
                    self.logged(events, drive, number);
                    continue;
                };
                self.counters.log_writes += 1;
                self.counters.log_pages += u64::from(pages);
                let request = request_of(Op::Write, self.layout.rows + from, pages);
                self.command(events, physical, request, Command::Log { drive, unit: number });
            }
        }
    }

    /// Next log write of `drive` and its first ring page, if rows wait and there is room.
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
        // A log write does not wrap around the end of the ring.
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

    /// Writes the rows of a log write that has reached its drive.
    pub(crate) fn logged(&mut self, events: &mut EventQueue, drive: u32, number: u64) {
        let log = &mut self.ppl.as_mut().expect("there is a log").logs[drive as usize];
        let unit =
            log.units.iter_mut().find(|unit| unit.number == number).expect("the log write is in flight");
        unit.durable = true;
        for row in unit.rows.clone() {
            for to in (0..self.spec.drives).filter(|d| row.pages >> d & 1 == 1) {
                if self.slots[to as usize].is_some() {
                    let (head, alone) = (row.head, false);
                    self.batch.push(PageCommand {
                        drive: to,
                        write: true,
                        row: row.row,
                        head,
                        alone,
                        fail_fast: false,
                    });
                } else {
                    // The drive failed during the log write.
                    self.page_moved(events, row.head, to, false);
                }
            }
        }
    }

    /// Releases the log of the row in `h`, which has been written.
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
        // A later write of the row has a log of its own: an older one would undo its parity.
        unit.rows.retain(|row| row.head != h);
        while log.units.front().is_some_and(|unit| unit.durable && unit.left == 0) {
            log.used -= log.units.pop_front().expect("the log is not empty").room;
        }
    }
}
