//! Coordination of garbage collection: rotation of the GC windows, fail-fast reads that parity reconstructs, and the suspend
//! limits that apply during a rebuild.

use crate::array::{Array, Command, SubRequest, Via, pages_of, request_at};
use crate::failure::mirror_resync::Sectors;
use interpulse_drive::drive::Drive;
use interpulse_engine::{Device, EventQueue, Op, ResourceId, SimTime};

impl Array {
    fn gc_window_timer(&self) -> ResourceId {
        self.own(3)
    }

    /// Opens the next drive's GC window and closes the others.
    pub(crate) fn on_gc_window(&mut self, events: &mut EventQueue) {
        if self.gc_windows.is_none() || self.closed {
            return;
        }
        let (seen, places) = (self.seen(events), self.spec.drives);
        let Some(windows) = &mut self.gc_windows else { return };
        windows.quiet = if windows.seen == seen { windows.quiet + 1 } else { 0 };
        windows.seen = seen;
        let number = windows.number(events.now());
        let next = SimTime::ZERO + windows.length * (number + 1);
        // After an idle round the windows stop rotating until a request arrives: a timer would hide from the run that no
        // other event is left.
        self.gc_windows_asleep = windows.quiet > places || next > events.horizon();
        if !self.gc_windows_asleep {
            events.arm(self.gc_window_timer(), next);
        }
        if self.is_down() {
            // Drives collect without windows during recovery; rotation continues when the host is served.
            return;
        }
        for (place, slot) in (0..).zip(self.slots.clone()) {
            if let Some(physical) = slot {
                self.drives[physical].hold_gc(events, number % u64::from(places) != place);
            }
        }
    }

    /// Activity count: changes with every submission, completion and GC operation.
    fn seen(&self, events: &EventQueue) -> u64 {
        let of =
            |drive: &Drive| drive.completed() + drive.gc_window().started + drive.operations(events) as u64;
        self.issued + self.completed + self.drives.iter().map(of).sum::<u64>()
    }

    /// Restarts the rotation when a request arrives.
    #[cold]
    pub(crate) fn wake_gc_windows(&mut self, events: &mut EventQueue) {
        if let Some(windows) = &mut self.gc_windows {
            windows.quiet = 0;
        }
        self.on_gc_window(events);
    }

    /// Counts GC operations outside the GC windows.
    pub(crate) fn count_forced(&mut self) {
        self.counters.gc_forced = self.drives.iter().map(|drive| drive.gc_window().forced).sum();
    }

    // ---- reads that fail fast ---------------------------------------------------------------------------

    /// Whether a read of `row` may fail fast: all other drives must hold their pages of it.
    #[inline]
    pub(crate) fn may_fail_fast(&self, row: u32) -> bool {
        self.spec.coordination.fail_fast && self.readable(row).count_ones() == self.spec.drives
    }

    /// Reconstructs a read that failed fast from the other drives, or reissues it without fail-fast if the stripe cache is
    /// full.
    #[cold]
    pub(crate) fn failed_fast(&mut self, events: &mut EventQueue, physical: usize, command: Command) {
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
            self.command(events, physical, request, Command::Host { job, read: Some(read), failures });
            return;
        }
        let part = SubRequest { job, op: Op::Read, from, to, via: Via::Others };
        self.enter_or_wait(events, part);
    }

    /// Page reads of reconstructions failed fast: their rows read the wanted page from its own drive, without fail-fast.
    #[cold]
    pub(crate) fn sources_failed_fast(&mut self, events: &mut EventQueue, mut heads: Vec<u32>, drive: u32) {
        for &h in &heads {
            let head = self.cache.head_mut(h);
            head.uptodate &= !(1 << drive);
            let (row, abandons) = (head.row, head.avoided != 0);
            self.stop_avoiding(events, h);
            self.counters.abandoned_reconstructions += u64::from(abandons);
            if self.contents.samples(row) {
                self.contents.invalidate(row, drive);
            }
            self.page_moved(events, h, drive, true);
        }
        heads.clear();
        self.spare_lists.push(heads);
    }

    // ---- suspensions during a rebuild -------------------------------------------------------------------

    /// Applies or removes the suspend limits of a rebuild.
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
