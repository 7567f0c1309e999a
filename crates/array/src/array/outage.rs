//! A loss of power of all drives and of the host at once.
//!
//! The stripe cache is gone. Of the commands under way each drive has kept what it has kept, page by page, and the record
//! of contents follows. When all drives are back, rows that were being written may have a parity that does not fit. With
//! `consistency = "resync"` the parity of every row is computed again, beside the host's load; a drive that is lost before
//! then takes pages with it that nobody was writing: the write hole. With `"ppl"` the logs tell which rows to mend, and the
//! host is served when they are.

use super::{Array, Command, request_of};
use crate::config::Consistency;
use crate::outage::{Outage, Recovery};
use crate::ppl::LogRow;
use crate::stripe_cache::StripeCache;
use crate::sync::Kind;
use interpulse_drive::host_interface::fifo::Line;
use interpulse_drive::numbers::Lpn;
use interpulse_engine::{Agenda, Device, News, Op, RequestId, SimTime};
use std::collections::BTreeSet;

impl Array {
    /// Whether the array takes no requests since power is off or it is being mended.
    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        self.owners.are_hidden()
    }

    /// Arms the cut.
    pub(super) fn start_power(&mut self, agenda: &mut Agenda) {
        if let Some(at) = self.cut_at {
            agenda.arm(self.own(4), SimTime::ZERO + at);
        }
    }

    /// Power is cut now.
    pub fn cut_power(&mut self, agenda: &mut Agenda) {
        if self.closed || self.is_down() {
            return;
        }
        assert!(self.losses.all.is_empty() && self.sync.is_none(), "the array is whole when power is cut");
        let written: BTreeSet<u32> = self.cache.all().filter(|h| h.is_written()).map(|h| h.row).collect();
        let rows_per_unit = self.drives[0].spec().geometry.codewords_per_unit();
        for physical in 0..self.drives.len() {
            let cut = self.drives[physical].cut_power(agenda);
            let commands = std::mem::take(&mut self.asked[physical].commands);
            for write in cut.writes {
                if let Command::Pages { heads, drive } = &commands[write.id.index()] {
                    for &h in heads {
                        let row = self.cache.head(h).row;
                        if write.survived.contains(&Lpn(row / rows_per_unit)) && self.contents.follows(row) {
                            self.contents.store(row, *drive);
                        }
                    }
                }
            }
            self.asked[physical].outstanding = 0;
        }
        self.contents.cut();
        let jobs: Vec<RequestId> = self.jobs.iter().map(|(id, _)| id).collect();
        let outage = Outage {
            at: agenda.now(),
            requests: jobs.len() as u64,
            rows: written.len() as u64,
            ..Outage::default()
        };
        self.lost_requests += outage.requests;
        for job in jobs {
            self.jobs.remove(job);
        }
        let logged = self.ppl.as_mut().map(|ppl| ppl.lose_power()).unwrap_or_default();
        self.recovery =
            Recovery { outage: Some(outage), unsure: written, logged, ..std::mem::take(&mut self.recovery) };
        self.set_down(true);
        self.cache = StripeCache::new(self.spec.stripe_heads, self.spec.drives);
        self.cached = Line::new(self.own(0));
        agenda.disarm(self.own(0));
        self.outbox.clear();
        self.blocked.clear();
        self.delayed.clear();
        self.prereading = 0;
        for k in 0..self.host_timers {
            agenda.disarm(self.host_timer(k));
        }
        let off_for = self.drives[0].spec().power_loss.expect("power may be lost").off_for;
        for drive in &mut self.drives {
            drive.power_up(agenda, agenda.now() + off_for);
        }
    }

    /// The drive of the configuration has failed while the array is down: it does not come back.
    pub(crate) fn hold_failure(&mut self) {
        self.recovery.failed = true;
    }

    /// Something has happened to a drive while the array is down: if it was the last to come back, the array starts. True
    /// if the host is served from now on.
    pub(super) fn starts_again(&mut self, agenda: &mut Agenda) -> bool {
        if self.recovery.mending != (0, 0) || self.drives.iter().any(|drive| drive.is_down()) {
            return false;
        }
        self.mend(agenda);
        !self.is_down()
    }

    /// The next phase: the logs are read, then the pages that changed, then parity is written.
    fn mend(&mut self, agenda: &mut Agenda) {
        self.recovery.mending.1 += 1;
        let failed = self.spec.failures[0].filter(|_| self.recovery.failed).map(|f| f.drive);
        let there = |drive: u32| failed != Some(drive);
        let mut commands = Vec::new();
        let page = |drive: u32, row: u32, op: Op| (drive, op, row, 1);
        match self.recovery.mending.1 {
            1 if self.ppl.is_some() => {
                let (first, size) = (self.layout.rows, self.spec.log_units);
                let drives = (0..self.spec.drives).filter(|&d| there(d));
                commands.extend(drives.map(|d| (d, Op::Read, first, size)));
            }
            2 | 3 => {
                // Where a page that changed was on a lost drive, the log does not help, and parity stays as it is.
                let (layout, drives) = (self.layout, self.spec.drives);
                let usable = |row: &&LogRow| {
                    there(layout.parity(row.row)) && failed.is_none_or(|d| row.changes >> d & 1 == 0)
                };
                let rows: Vec<LogRow> = self.recovery.logged.iter().filter(usable).copied().collect();
                for row in rows {
                    if self.recovery.mending.1 == 2 {
                        let changes = (0..drives).filter(|d| row.changes >> d & 1 == 1);
                        commands.extend(changes.map(|d| page(d, row.row, Op::Read)));
                        continue;
                    }
                    commands.push(page(layout.parity(row.row), row.row, Op::Write));
                    if self.contents.follows(row.row) {
                        self.contents.mend(row.row, row.partial, row.changes);
                    }
                    self.recovery.unsure.remove(&row.row);
                    self.recovery.outage.as_mut().expect("power was cut").mended += 1;
                }
            }
            _ => {}
        }
        self.recovery.mending.0 = commands.len() as u32;
        for (drive, op, first, units) in commands {
            let physical = self.slots[drive as usize].expect("the array was whole");
            self.command(agenda, physical, request_of(op, first, units), Command::Mend);
        }
        self.phase_may_end(agenda);
    }

    /// A command of the present phase is done.
    pub(super) fn mended(&mut self, agenda: &mut Agenda) {
        self.recovery.mending.0 -= 1;
        self.phase_may_end(agenda);
    }

    fn phase_may_end(&mut self, agenda: &mut Agenda) {
        match self.recovery.mending {
            (0, 1 | 2) => self.mend(agenda),
            (0, _) => self.serve(agenda),
            _ => {}
        }
    }

    /// The host is served again.
    fn serve(&mut self, agenda: &mut Agenda) {
        self.set_down(false);
        self.recovery.mending = (0, 0);
        let logged: BTreeSet<u32> = self.recovery.logged.drain(..).map(|row| row.row).collect();
        if self.ppl.is_some() {
            // Rows that no log speaks of have not been touched.
            self.recovery.unsure.retain(|row| logged.contains(row));
        }
        self.recovery.outage.as_mut().expect("power was cut").served = Some(agenda.now());
        if std::mem::take(&mut self.recovery.failed) {
            self.fail_chosen(agenda);
        } else if self.spec.consistency == Consistency::Resync && !self.closed {
            self.start_sync(agenda, Kind::Resync, self.spec.resync_rate);
        }
        self.on_turn(agenda);
        self.news.push(News::Served);
    }
}
