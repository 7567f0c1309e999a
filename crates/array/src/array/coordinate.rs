//! How the drives keep out of one another's way: garbage collection in turn, reads that fail fast and are made up by the
//! other drives (H. Li et al., "IODA", SOSP'21), and other limits of suspensions while a rebuild runs.

use super::{Array, Command, Piece, Via, pages_of, request_at};
use crate::copying::Sectors;
use interpulse_drive::drive::Drive;
use interpulse_engine::{Agenda, Device, Op, ResourceId, SimTime};

impl Array {
    fn turn_timer(&self) -> ResourceId {
        self.own(3)
    }

    /// A turn begins: the drive whose turn it is collects garbage, the others do not.
    pub(super) fn on_turn(&mut self, agenda: &mut Agenda) {
        if self.turns.is_none() || self.closed {
            return;
        }
        let (seen, places) = (self.seen(agenda), self.spec.drives);
        let Some(turns) = &mut self.turns else { return };
        turns.quiet = if turns.seen == seen { turns.quiet + 1 } else { 0 };
        turns.seen = seen;
        let number = turns.number(agenda.now());
        let next = SimTime::ZERO + turns.length * (number + 1);
        // After a whole round in which nothing has happened turns do not change until a request comes: a timer that went
        // on would hide from the run that nothing is going to happen any more.
        self.turns_asleep = turns.quiet > places || next > agenda.horizon();
        if !self.turns_asleep {
            agenda.arm(self.turn_timer(), next);
        }
        if self.is_down() {
            // Drives that come back collect as they have to; the turns go on when the host is served.
            return;
        }
        for (place, slot) in (0..).zip(self.slots.clone()) {
            if let Some(physical) = slot {
                self.drives[physical].hold_gc(agenda, number % u64::from(places) != place);
            }
        }
    }

    /// A number that changes when a drive is given something to do or completes it, its own collection included.
    fn seen(&self, agenda: &Agenda) -> u64 {
        let of =
            |drive: &Drive| drive.completed() + drive.gc_window().started + drive.operations(agenda) as u64;
        self.issued + self.completed + self.drives.iter().map(of).sum::<u64>()
    }

    /// A request has come while turns did not change.
    #[cold]
    pub(super) fn wake_turns(&mut self, agenda: &mut Agenda) {
        if let Some(turns) = &mut self.turns {
            turns.quiet = 0;
        }
        self.on_turn(agenda);
    }

    /// Operations of garbage collection that did not wait for their drive's turn.
    pub(super) fn count_forced(&mut self) {
        self.counters.gc_forced = self.drives.iter().map(|drive| drive.gc_window().forced).sum();
    }

    // ---- reads that fail fast ---------------------------------------------------------------------------

    /// Whether a read of `row` from a drive may fail fast: all other drives hold their pages of it.
    #[inline]
    pub(super) fn may_fail_fast(&self, row: u32) -> bool {
        self.spec.coordination.fail_fast && self.readable(row).count_ones() == self.spec.drives
    }

    /// A read has failed fast: its pages are made up by the other drives. Where the stripe cache has no room for that, it
    /// is told to wait after all.
    #[cold]
    pub(super) fn failed_fast(&mut self, agenda: &mut Agenda, physical: usize, command: Command) {
        let Command::Host { job, read: Some(read), failures } = command else {
            unreachable!("reads of the host fail fast")
        };
        let Sectors { from, to } = read;
        let pages = pages_of(from, to - from);
        self.counters.fast_failed_reads += 1;
        let there = self.slots.contains(&Some(physical));
        if there && (!self.blocked.is_empty() || !self.cache.has_room_for(pages as usize)) {
            self.counters.fast_failed_waits += 1;
            let (place, sectors) = self.stretch(from, to);
            let request = request_at(Op::Read, place, from, sectors);
            self.command(agenda, physical, request, Command::Host { job, read: Some(read), failures });
            return;
        }
        let piece = Piece { job, op: Op::Read, from, to, via: Via::Others };
        self.enter_or_wait(agenda, piece);
    }

    // ---- suspensions during a rebuild -------------------------------------------------------------------

    /// A rebuild begins or ends: the drives' limits of suspensions change, or change back.
    pub(crate) fn rebuild_changes_limits(&mut self, runs: bool) {
        let Some(limits) = self.spec.coordination.rebuild else { return };
        for drive in &mut self.drives {
            let own =
                [&drive.spec().nand.program_suspend, &drive.spec().nand.erase_suspend].map(|p| p.limits());
            let then = if runs { own.map(|own| limits.over(own)) } else { own };
            drive.nand_mut().set_suspend_limits(then);
        }
    }
}
