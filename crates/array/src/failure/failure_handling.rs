//! Handling of drive failures: scheduled ones, error limits, replacement by spares.

use crate::array::Array;
use crate::failure::drive_failures::{DriveFailure, FailureCause};
use crate::raid::bits;
use interpulse_engine::{EventQueue, SimTime};

impl Array {
    /// Drives that hold `row` (bit mask).
    #[inline]
    pub(crate) fn readable(&self, row: u32) -> u32 {
        let all = ((1u64 << self.spec.drives) - 1) as u32;
        if self.failures.absent == 0 { all } else { all & !self.failures.missing(row) }
    }

    /// Positions with a drive (bit mask).
    pub(crate) fn present(&self) -> u32 {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.is_some()).fold(0, |mask, (d, _)| mask | 1 << d)
    }

    /// Fails the drives whose scheduled time has come.
    pub(crate) fn fail_scheduled(&mut self, events: &mut EventQueue) {
        if self.closed {
            return;
        }
        if self.is_down() {
            self.defer_failure();
            return;
        }
        let due = |at| SimTime::ZERO + at <= events.now();
        let chosen = self.failures.all.len();
        let failures = self.spec.failures.into_iter().flatten().skip(chosen);
        let (now, later): (Vec<_>, Vec<_>) = failures.partition(|failure| due(failure.at));
        for failure in now {
            self.fail_drive(failure.drive, events.now(), FailureCause::Chosen);
        }
        self.recount_copies(events);
        self.restart_sync(events);
        if let Some(next) = later.first() {
            events.arm(self.own(1), SimTime::ZERO + next.at);
        }
    }

    #[cold]
    pub(crate) fn count_errors(&mut self, drive: u32, pages: u32) {
        let errors = &mut self.failures.errors[drive as usize];
        *errors += pages;
        if self.spec.fail_after_errors.is_some_and(|most| *errors >= most) {
            self.failures.failing |= 1 << drive;
        }
    }

    /// Fails the drives over the error limit, unless that would lose data; md keeps such a drive, too.
    #[cold]
    pub(crate) fn remove_failing_drives(&mut self, events: &mut EventQueue) {
        let failing = std::mem::take(&mut self.failures.failing);
        for drive in bits(failing) {
            if !self.closed && self.spec.level.survives(self.spec.drives, self.failures.absent | 1 << drive) {
                self.fail_drive(drive, events.now(), FailureCause::Errors);
            }
        }
        self.recount_copies(events);
        self.restart_sync(events);
    }

    /// Fails a drive: it completes its outstanding commands, gets no further ones, and its data is lost.
    fn fail_drive(&mut self, drive: u32, at: SimTime, cause: FailureCause) {
        self.end_resync();
        let (inconsistent, cache) = (&self.recovery.inconsistent, &self.cache);
        let holes = self.contents.drive_failed(drive, |row| (inconsistent.contains(&row), cache.uses(row)));
        self.counters.write_hole_pages += holes;
        let replaced = self.failures.spares_used < self.spec.spares();
        let errors = std::mem::take(&mut self.failures.errors[drive as usize]);
        self.failures.all.push(DriveFailure { drive, at, cause, errors, replaced });
        self.failures.absent |= 1 << drive;
        self.failures.held[drive as usize] = 0;
        self.slots[drive as usize] =
            replaced.then_some((self.spec.drives + self.failures.spares_used) as usize);
        self.failures.spares_used += u32::from(replaced);
        self.sync_after_failure(drive);
    }
}
