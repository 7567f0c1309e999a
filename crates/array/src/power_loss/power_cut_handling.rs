//! Handling of a power cut: loss of volatile state, recovery phases, return to service.

use crate::array::{Array, Command, request_of};
use crate::config::Consistency;
use crate::failure::background_sync::SyncAction;
use crate::power_loss::partial_parity_log::LogRow;
use crate::power_loss::recovery::PowerCut;
use crate::stripes::cache::StripeCache;
use interpulse_drive::host_interface::fifo::Line;
use interpulse_drive::numbers::Lpn;
use interpulse_engine::{Device, DeviceEvent, EventQueue, Op, RequestId, SimTime};
use std::collections::BTreeSet;

impl Array {
    /// Whether power is off or recovery is running: the array accepts no requests.
    #[inline]
    pub fn is_down(&self) -> bool {
        self.resource_map.is_hidden()
    }

    pub(crate) fn start_power(&mut self, events: &mut EventQueue) {
        if let Some(at) = self.cut_at {
            events.arm(self.own(4), SimTime::ZERO + at);
        }
    }

    /// Power cuts so far, in order.
    pub fn power_cuts(&self) -> &[PowerCut] {
        &self.recovery.power_cuts
    }

    /// Cuts power now, if it is not off, and no drive has failed: the recovery of a degraded array is not simulated. A resync
    /// under way begins again after the recovery. Returns whether power was cut.
    pub fn cut_power(&mut self, events: &mut EventQueue) -> bool {
        if self.closed || self.is_down() || !self.failures.all.is_empty() {
            return false;
        }
        self.end_resync();
        events.disarm(self.own(2));
        let written: BTreeSet<u32> = self.cache.all().filter(|h| h.is_written()).map(|h| h.row).collect();
        let rows_per_unit = self.drives[0].spec().geometry.codewords_per_unit();
        for physical in 0..self.drives.len() {
            let cut = self.drives[physical].cut_power(events);
            let commands = self.drive_commands[physical].lose_power();
            for write in cut.writes {
                if let Command::Pages { heads, drive } = &commands[write.id.index()] {
                    for &h in heads {
                        let row = self.cache.head(h).row;
                        if write.survived.contains(&Lpn(row / rows_per_unit)) && self.contents.samples(row) {
                            self.contents.store(row, *drive);
                        }
                    }
                }
            }
        }
        self.contents.cut();
        let jobs: Vec<RequestId> = self.jobs.iter().map(|(id, _)| id).collect();
        let power_cut = PowerCut {
            at: events.now(),
            requests: jobs.len() as u64,
            rows: written.len() as u64,
            ..PowerCut::default()
        };
        self.lost_requests += power_cut.requests;
        for job in jobs {
            self.jobs.remove(job);
        }
        let logged = self.ppl.as_mut().map(|ppl| ppl.lose_power()).unwrap_or_default();
        self.recovery.power_cuts.push(power_cut);
        // Rows of an earlier cut wait for the resync still.
        self.recovery.inconsistent.extend(written);
        self.recovery.logged = logged;
        self.set_down(true);
        self.cache = StripeCache::new(self.spec.stripe_heads, self.spec.drives);
        self.cached = Line::new(self.own(0));
        events.disarm(self.own(0));
        if let Some(hedging) = &mut self.hedging {
            hedging.lose_power();
            events.disarm(self.hedge_timer());
        }
        self.batch.clear();
        self.blocked.clear();
        self.delayed.clear();
        self.prereading = 0;
        for k in 0..self.host_timers {
            events.disarm(self.host_timer(k));
        }
        let off_for = self.drives[0].spec().power_loss.expect("power may be lost").off_for;
        for drive in &mut self.drives {
            drive.power_up(events, events.now() + off_for);
        }
        true
    }

    /// Defers a scheduled failure until the array is served.
    pub(crate) fn defer_failure(&mut self) {
        self.recovery.failed = true;
    }

    /// Starts recovery when the last drive is up. True if the host is served from now on.
    pub(crate) fn restart_if_ready(&mut self, events: &mut EventQueue) -> bool {
        if self.recovery.phase != (0, 0) || self.drives.iter().any(|drive| drive.is_down()) {
            return false;
        }
        self.next_recovery_phase(events);
        !self.is_down()
    }

    /// Next recovery phase: read the logs, read the changed pages, write parity.
    fn next_recovery_phase(&mut self, events: &mut EventQueue) {
        self.recovery.phase.1 += 1;
        let failed = self.spec.failures[0].filter(|_| self.recovery.failed).map(|f| f.drive);
        let there = |drive: u32| failed != Some(drive);
        let mut commands = Vec::new();
        let page = |drive: u32, row: u32, op: Op| (drive, op, row, 1);
        match self.recovery.phase.1 {
            1 if self.ppl.is_some() => {
                let (first, size) = (self.layout.rows, self.spec.log_units);
                let drives = (0..self.spec.drives).filter(|&d| there(d));
                commands.extend(drives.map(|d| (d, Op::Read, first, size)));
            }
            2 | 3 => {
                // If a changed page was on a failed drive, the log does not help and parity remains as it is.
                let (layout, drives) = (self.layout, self.spec.drives);
                let usable = |row: &&LogRow| {
                    there(layout.parity(row.row)) && failed.is_none_or(|d| row.changes >> d & 1 == 0)
                };
                let rows: Vec<LogRow> = self.recovery.logged.iter().filter(usable).copied().collect();
                for row in rows {
                    if self.recovery.phase.1 == 2 {
                        let changes = (0..drives).filter(|d| row.changes >> d & 1 == 1);
                        commands.extend(changes.map(|d| page(d, row.row, Op::Read)));
                        continue;
                    }
                    commands.push(page(layout.parity(row.row), row.row, Op::Write));
                    if self.contents.samples(row.row) {
                        self.contents.apply_log(row.row, row.partial, row.changes);
                    }
                    self.recovery.inconsistent.remove(&row.row);
                    self.recovery.last_cut().recovered += 1;
                }
            }
            _ => {}
        }
        self.recovery.phase.0 = commands.len() as u32;
        for (drive, op, first, units) in commands {
            let physical = self.slots[drive as usize].expect("the array was whole");
            self.command(events, physical, request_of(op, first, units), Command::Recovery);
        }
        self.phase_may_end(events);
    }

    pub(crate) fn recovery_command_done(&mut self, events: &mut EventQueue) {
        self.recovery.phase.0 -= 1;
        self.phase_may_end(events);
    }

    fn phase_may_end(&mut self, events: &mut EventQueue) {
        match self.recovery.phase {
            (0, 1 | 2) => self.next_recovery_phase(events),
            (0, _) => self.serve(events),
            _ => {}
        }
    }

    fn serve(&mut self, events: &mut EventQueue) {
        self.set_down(false);
        self.recovery.phase = (0, 0);
        let logged: BTreeSet<u32> = self.recovery.logged.drain(..).map(|row| row.row).collect();
        if self.ppl.is_some() {
            // Rows without a log entry were not being written.
            self.recovery.inconsistent.retain(|row| logged.contains(row));
        }
        self.recovery.last_cut().served = Some(events.now());
        if std::mem::take(&mut self.recovery.failed) {
            self.fail_scheduled(events);
        } else if self.spec.consistency == Consistency::Resync && !self.closed {
            self.start_sync(events, SyncAction::Resync, self.spec.resync_rate);
        }
        self.on_gc_window(events);
        self.completions.push(DeviceEvent::PowerRestored);
    }
}
