//! Format NVM inside the drive: deallocates a namespace, may erase its blocks, and refuses its commands meanwhile.

use super::Drive;
use super::format_state::Formatted;
use crate::ftl::{Flash, Ftl};
use crate::numbers::Lpn;
use crate::spec::FormatSpec;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, RequestId, ResourceId, SimTime, Status};

impl Drive {
    fn format_timer(&self) -> ResourceId {
        self.place.later(Drive::format_timer_index(&self.spec))
    }

    /// Formats that have begun.
    pub fn formats(&self) -> &[Formatted] {
        self.formats.as_ref().map_or(&[], |of| &of.begun)
    }

    /// Arms the timer of formats.
    pub(super) fn arm_formats(&mut self, events: &mut EventQueue) {
        let next = self.formats.as_ref().and_then(|of| of.next());
        if let Some(at) = next.filter(|&at| at <= events.horizon()) {
            events.arm(self.format_timer(), at.max(events.now()));
        }
    }

    /// Begins and ends formats that are due.
    pub(super) fn on_format_timer(&mut self, events: &mut EventQueue) {
        let now = events.now();
        while let Some(of) = self.next_format(now) {
            self.format(events, of);
        }
        self.end_formats(now);
        if !self.closed {
            self.arm_formats(events);
        }
    }

    fn next_format(&mut self, now: SimTime) -> Option<FormatSpec> {
        let of = self.formats.as_mut().filter(|_| !self.closed)?;
        of.coming.pop_if(|of| SimTime::ZERO + of.at <= now)
    }

    fn end_formats(&mut self, now: SimTime) {
        let begun = self.formats.iter_mut().flat_map(|of| &mut of.begun);
        let over = |of: &&mut Formatted| of.ended.is_none() && of.erasing == 0 && of.least() <= now;
        begun.filter(over).for_each(|of| of.ended = Some(now));
    }

    fn format(&mut self, events: &mut EventQueue, of: FormatSpec) {
        let (from, to) = match (of.namespace, self.namespaces()) {
            (Some(k), Some(namespaces)) => {
                let namespace = &namespaces.all()[k as usize];
                (namespace.first(), namespace.first() + namespace.units())
            }
            _ => (Lpn(0), Lpn(self.ftl.logical_units())),
        };
        let formats = self.formats.as_mut().expect("its timer is armed");
        if formats.covers(from, to) {
            // Format in Progress: the second command ends at once, without effect.
            return;
        }
        let number = formats.begun.len();
        let tag = RequestId(number as u32);
        formats.begun.push(Formatted { of, ended: None, deallocated: 0, erased: 0, from, to, erasing: 0 });
        let deallocated = self.ftl.trim(tag, from, to);
        if let Some(cache) = &mut self.read_cache {
            cache.invalidate(&mut self.counters, from, to);
        }
        let mut flash = Flash { nand: &mut self.nand, events };
        let erased = if of.erases { self.ftl.erase_closed_blocks(&mut flash, tag, from, to) } else { [0; 2] };
        let begun = &mut self.formats.as_mut().expect("its timer is armed").begun[number];
        (begun.deallocated, begun.erased, begun.erasing) = (deallocated, u64::from(erased[0]), erased[1]);
        self.drain_ftl(events, None);
        // Writes and flushes may have waited for slots of deallocated units only.
        self.room_in_cache(events);
    }

    /// Blocks that format `number` had to erase in one FTL are erased.
    #[cold]
    pub(super) fn blocks_formatted(&mut self, events: &mut EventQueue, RequestId(number): RequestId) {
        let of = self.formats.as_mut().expect("a format has begun");
        of.begun[number as usize].erasing -= 1;
        self.end_formats(events.now());
        if !self.closed {
            self.arm_formats(events);
        }
    }

    /// Refuses command `id` if it addresses a namespace that is being formatted.
    #[cold]
    pub(super) fn meets_format(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let Some(of) = &self.formats else { return false };
        let request = self.host.requests.get(id);
        let meets = of.covers(request.lpn, request.lpn + request.units.max(1));
        if meets {
            let now = events.now();
            self.host.requests.get_mut(id).book(Cause::Firmware, now);
            self.refuse(events, id, Status::FormatInProgress);
        }
        meets
    }
}
