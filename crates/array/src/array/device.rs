//! Device interface of an array.

use crate::array::{Array, Traffic};
use interpulse_drive::drive::Drive;
use interpulse_engine::{
    AuditReport, Completion, Device, DeviceEvent, EventQueue, Op, PrefetchDistance, Request, RequestId,
    ResourceId, SimTime, Status, Tag,
};
use std::ops::Range;

impl Device for Array {
    const NAME: &'static str = "an array";
    const BATCHES: bool = true;

    fn resources(&self) -> Range<u32> {
        0..self.host_resource(self.host_timers).0 + u32::from(self.hedging.is_some())
    }

    fn host_timer(&self, k: u32) -> ResourceId {
        self.host_resource(k)
    }

    fn capacity_sectors(&self) -> u64 {
        self.spec.capacity_sectors(self.drives[0].spec()).expect("the spec has been checked")
    }

    fn start(&mut self, events: &mut EventQueue) -> Result<(), String> {
        let most = events.horizon();
        let late = |at| SimTime::ZERO + at > most;
        if let Some(failure) = self.spec.failures.into_iter().flatten().find(|failure| late(failure.at)) {
            let at = failure.at;
            return Err(format!(
                "array.fail-at = {at} is later than the {most} that an array of this size can simulate"
            ));
        }
        let off_for = self.drives[0].spec().power_loss.map(|spec| spec.off_for);
        if let Some((at, _)) = self.cut_at.zip(off_for).filter(|&(at, off_for)| late(at + off_for)) {
            return Err(format!(
                "power-loss.at = {at} and off-for together are later than the {most} that an array of this size can \
                 simulate"
            ));
        }
        for drive in &mut self.drives {
            drive.start(events)?;
        }
        if let Some(first) = self.spec.failures[0] {
            events.arm(self.own(1), SimTime::ZERO + first.at);
        }
        self.start_scrub(events);
        self.on_gc_window(events);
        self.start_power(events);
        Ok(())
    }

    #[inline(always)]
    fn hint(&self, request: &Request, ahead: PrefetchDistance) {
        if ahead == PrefetchDistance::Far {
            self.hint_drives(request);
        }
    }

    #[inline]
    fn submit(
        &mut self,
        events: &mut EventQueue,
        _queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        Some(self.accept(events, tag, request))
    }

    #[inline(always)]
    fn handle(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32> {
        self.on_event(events, resource)
    }

    #[inline]
    fn has_event(&self) -> bool {
        self.unsettled
    }

    #[inline]
    fn event(&self) -> Option<DeviceEvent<Completion<'_>>> {
        let DeviceEvent::Completed(id) = self.completions.front()? else {
            return Some(DeviceEvent::PowerRestored);
        };
        let job = self.jobs.get(id);
        Some(DeviceEvent::Completed(Completion {
            id,
            tag: job.tag,
            op: job.op,
            bytes: job.bytes,
            submitted: job.submitted,
            status: if job.failed { Status::UnrecoveredReadError } else { Status::Success },
            placed: None,
            busy: false,
            account: None,
        }))
    }

    #[inline]
    fn pop_event(&mut self) {
        if let Some(DeviceEvent::Completed(id)) = self.completions.pop() {
            self.jobs.remove(id);
        }
    }

    #[inline(always)]
    fn advance(&mut self, events: &mut EventQueue) -> bool {
        // One test for the usual case that both are empty.
        if self.delayed.len() | self.blocked.len() == 0 {
            return false;
        }
        if self.prereading == 0 && !self.delayed.is_empty() {
            self.activate_delayed(events);
        } else if !self.blocked.is_empty() && self.cache.has_room() {
            let part = self.blocked.pop_front().expect("a request is waiting");
            self.enter(events, part);
        } else {
            return false;
        }
        true
    }

    #[inline]
    fn background(&mut self, events: &mut EventQueue) -> bool {
        self.sync.is_some() && self.sync_rows(events)
    }

    #[inline(always)]
    fn flush(&mut self, events: &mut EventQueue) -> bool {
        let any = self.ppl.is_some() | !self.batch.is_empty() | (self.failures.failing != 0);
        if any {
            self.submit_gathered(events);
        }
        self.unsettled = false;
        any
    }

    fn outstanding(&self) -> usize {
        let outstanding = self.drive_commands.iter().map(|of| of.outstanding);
        let commands: u32 = if self.closed { outstanding.sum() } else { 0 };
        self.jobs.live() + commands as usize + usize::from(self.is_down())
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime)) {
        self.jobs.iter().for_each(|(_, job)| each(job.op, job.submitted));
    }

    fn begin_window(&mut self) {
        self.count_forced();
        self.before_window = self.counters;
        for (drive, drive_commands) in self.drives.iter_mut().zip(&mut self.drive_commands) {
            drive.begin_window();
            drive_commands.measured = Traffic::default();
        }
    }

    fn end_window(&mut self) {
        self.of_drives = self
            .drive_commands
            .iter_mut()
            .map(|drive_commands| std::mem::take(&mut drive_commands.measured))
            .collect();
        self.count_forced();
        self.measured = self.counters.since(&self.before_window);
    }

    fn close(&mut self) {
        self.closed = true;
        self.drives.iter_mut().for_each(Drive::close);
    }

    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        let (issued, completed) = (self.issued - self.lost_requests, self.completed);
        if issued != completed {
            return Err(format!("{issued} requests issued to the array, {completed} completed"));
        }
        let mut report =
            AuditReport { requests: completed, mapped_units: 0, versions_checked: self.contents.checked };
        for (d, drive) in self.drives.iter().enumerate() {
            let of = drive.audit(now, stride).map_err(|why| format!("drive {d}: {why}"))?;
            report.mapped_units += of.mapped_units;
            report.versions_checked += of.versions_checked;
        }
        self.audit_contents()?;
        Ok(report)
    }

    fn diagnosis(&self, events: &EventQueue) -> String {
        let mut text = format!(
            "at {} no event is scheduled, but {} requests are outstanding: {} wait for the stripe cache ({} of {} \
             heads in use), {} rows are delayed, {} preread, commands by drive {:?}",
            events.now(),
            self.jobs.live(),
            self.blocked.len(),
            self.cache.active(),
            self.cache.most(),
            self.delayed.len(),
            self.prereading,
            self.drive_commands.iter().map(|of| of.outstanding).collect::<Vec<_>>()
        );
        for drive in self.drives.iter().filter(|d| d.outstanding() > 0) {
            text += &format!("; {}", drive.diagnosis(events));
        }
        text
    }
}
