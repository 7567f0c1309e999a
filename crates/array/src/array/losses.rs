//! Drives that are lost: at a chosen time, or because the array takes out one whose errors have become too many.
//!
//! md counts too. RAID-1 and RAID-10 take a drive out at `max_read_errors` (20; the count is halved every hour), RAID-5 and
//! RAID-6 when more pages than there are stripe heads have failed with no good read in between (`raid5_end_read_request` in
//! drivers/md/raid5.c). Here it is a plain count, so that a failure can be had at a chosen point of a drive's decay.

use super::Array;
use crate::bits::bits;
use crate::losses::{Cause, Loss};
use interpulse_engine::{Agenda, SimTime};

impl Array {
    /// The drives that hold `row`, one bit each.
    #[inline]
    pub(crate) fn readable(&self, row: u32) -> u32 {
        let all = ((1u64 << self.spec.drives) - 1) as u32;
        if self.losses.absent == 0 { all } else { all & !self.losses.missing(row) }
    }

    /// Places with a drive in them, one bit each.
    pub(crate) fn present(&self) -> u32 {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.is_some()).fold(0, |mask, (d, _)| mask | 1 << d)
    }

    /// The next drive that fails at a chosen time does.
    pub(super) fn fail_chosen(&mut self, agenda: &mut Agenda) {
        if self.closed {
            return;
        }
        if self.is_down() {
            self.hold_failure();
            return;
        }
        let due = |at| SimTime::ZERO + at <= agenda.now();
        let chosen = self.losses.all.len();
        let failures = self.spec.failures.into_iter().flatten().skip(chosen);
        let (now, later): (Vec<_>, Vec<_>) = failures.partition(|failure| due(failure.at));
        for failure in now {
            self.lose(failure.drive, agenda.now(), Cause::Chosen);
        }
        self.recount_copies(agenda);
        self.restart_sync(agenda);
        if let Some(next) = later.first() {
            agenda.arm(self.own(1), SimTime::ZERO + next.at);
        }
    }

    /// A drive could not correct `pages` pages.
    #[cold]
    pub(super) fn count_errors(&mut self, drive: u32, pages: u32) {
        let errors = &mut self.losses.errors[drive as usize];
        *errors += pages;
        if self.spec.fail_after_errors.is_some_and(|most| *errors >= most) {
            self.losses.condemned |= 1 << drive;
        }
    }

    /// Takes the drives out that have had too many errors, unless that would lose data: md keeps such a one, too.
    #[cold]
    pub(super) fn take_out_condemned(&mut self, agenda: &mut Agenda) {
        let condemned = std::mem::take(&mut self.losses.condemned);
        for drive in bits(condemned) {
            if !self.closed && self.spec.level.survives(self.spec.drives, self.losses.absent | 1 << drive) {
                self.lose(drive, agenda.now(), Cause::Errors);
            }
        }
        self.recount_copies(agenda);
        self.restart_sync(agenda);
    }

    /// A drive is lost: commands that it has taken are answered, it gets no more, and its data is gone.
    fn lose(&mut self, drive: u32, at: SimTime, cause: Cause) {
        self.end_resync();
        let (unsure, cache) = (&self.recovery.unsure, &self.cache);
        let holes = self.contents.lose(drive, |row| (unsure.contains(&row), cache.uses(row)));
        self.counters.write_hole_pages += holes;
        let replaced = self.losses.spares_used < self.spec.spares();
        let errors = std::mem::take(&mut self.losses.errors[drive as usize]);
        self.losses.all.push(Loss { drive, at, cause, errors, replaced });
        self.losses.absent |= 1 << drive;
        self.losses.held[drive as usize] = 0;
        self.slots[drive as usize] =
            replaced.then_some((self.spec.drives + self.losses.spares_used) as usize);
        self.losses.spares_used += u32::from(replaced);
        self.lost_in_sync(drive);
    }
}
