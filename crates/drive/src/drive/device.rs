//! Device interface of a drive.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use crate::host_interface::HostInterface;
use crate::host_interface::request::FailFast;
use interpulse_engine::{
    AuditReport, Completion, Device, DeviceEvent, EventQueue, Op, PrefetchDistance, Request, RequestId,
    ResourceId, SimTime, Tag, Waiting,
};
use std::ops::Range;

impl Device for Drive {
    const NAME: &'static str = "a drive";
    const BATCHES: bool = false;

    fn resources(&self) -> Range<u32> {
        self.place.first..self.place.first + Drive::resources(&self.spec, self.place.host_timers)
    }

    #[inline]
    fn host_timer(&self, k: u32) -> ResourceId {
        debug_assert!(k < self.place.host_timers, "timer {k} of {}", self.place.host_timers);
        ResourceId(self.place.first + self.place.flash + HostInterface::LINES + k)
    }

    fn capacity_sectors(&self) -> u64 {
        self.spec.capacity_sectors().expect("the spec has been checked")
    }

    fn namespace_sectors(&self, k: u32) -> Range<u64> {
        let several = self.namespaces().filter(|of| !of.is_one_namespace());
        let Some(of) = several else { return 0..self.capacity_sectors() };
        let namespace = &of.all()[k as usize];
        let end = namespace.first() + namespace.units();
        self.host.first_sector(namespace.first())..self.host.first_sector(end)
    }

    fn start(&mut self, events: &mut EventQueue) -> Result<(), String> {
        self.ftl.start(&mut Flash { nand: &mut self.nand, events });
        self.arm_faults(events);
        self.arm_formats(events);
        self.start_windows(events);
        self.arm_cut(events)
    }

    #[inline(always)]
    fn hint(&self, request: &Request, ahead: PrefetchDistance) {
        match (ahead, request.op) {
            (_, Op::Flush) => {}
            (PrefetchDistance::Far, _) => self.ftl.prefetch(self.host.first_unit(request)),
            (PrefetchDistance::Near, Op::Write) => self.ftl.prefetch_older(self.host.first_unit(request)),
            (PrefetchDistance::Near, _) => {}
        }
    }

    fn store_addresses(&mut self, addresses: &[u64]) -> u64 {
        self.host.first_sector(self.vectors.store(addresses))
    }

    fn at_address(&self, request: Request) -> Request {
        self.vectors.at_address(&self.host, request)
    }

    #[inline(always)]
    fn submit(
        &mut self,
        events: &mut EventQueue,
        queue: u32,
        tag: Tag,
        request: Request,
    ) -> Option<RequestId> {
        if self.watches_submissions {
            return self.submit_watched(events, queue, tag, request);
        }
        self.host.submit(events, queue, tag, request)
    }

    #[inline(always)]
    fn entered(&mut self) -> Option<(RequestId, Waiting)> {
        if self.host.entered.is_none() { None } else { self.host.entered.take() }
    }

    #[inline(always)]
    fn handle(&mut self, events: &mut EventQueue, resource: ResourceId) -> Option<u32> {
        let index = resource.0 - self.place.first;
        if index < self.place.flash {
            self.nand.on_timer(events, index);
            if self.nand.has_ended() {
                self.take_ended(events);
            }
            return None;
        }
        match index - self.place.flash {
            0 => {
                let id = self.host.firmware.pop(events);
                self.firmware_done(events, id);
            }
            1 => {
                let id = self.host.arriving.pop(events);
                self.data_arrived(events, id);
            }
            2 => {
                let id = self.host.dram.pop(events);
                self.dram_done(events, id);
            }
            3 => {
                let id = self.host.leaving.pop(events);
                self.complete(events, id);
            }
            other => match other - HostInterface::LINES {
                k if k < self.place.host_timers => return Some(k),
                later => self.on_later_timer(events, later - self.place.host_timers),
            },
        }
        None
    }

    #[inline(always)]
    fn has_event(&self) -> bool {
        self.host.news.is_some()
    }

    #[inline]
    fn event(&self) -> Option<DeviceEvent<Completion<'_>>> {
        match self.host.news? {
            DeviceEvent::PowerRestored => Some(DeviceEvent::PowerRestored),
            DeviceEvent::Entered => Some(DeviceEvent::Entered),
            DeviceEvent::Completed(id) => {
                let r = self.host.requests.get(id);
                Some(DeviceEvent::Completed(Completion {
                    id,
                    tag: r.tag,
                    op: r.op,
                    bytes: r.bytes,
                    submitted: r.submitted,
                    status: r.status,
                    placed: (r.op == Op::Append).then(|| self.host.first_sector(r.lpn)),
                    busy: r.fail_fast == FailFast::Failed,
                    account: Some(&r.account),
                }))
            }
        }
    }

    #[inline]
    fn pop_event(&mut self) {
        if let Some(DeviceEvent::Completed(id)) = self.host.news.take() {
            self.host.requests.remove(id);
        }
    }

    #[inline]
    fn outstanding(&self) -> usize {
        self.host.outstanding() + usize::from(self.is_down())
    }

    #[inline]
    fn completed(&self) -> u64 {
        self.host.completed
    }

    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime)) {
        self.host.all_outstanding().for_each(|(op, submitted)| each(op, submitted));
    }

    fn for_waiting(&self, each: &mut dyn FnMut(Waiting)) {
        let named = |waiting: Waiting| Waiting { request: self.at_address(waiting.request), ..waiting };
        self.host.queues.all_waiting().map(named).for_each(each);
    }

    fn begin_window(&mut self) {
        self.nand.reset_window();
    }

    fn close(&mut self) {
        self.closed = true;
        self.ftl.close();
    }

    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        self.verify(now, stride)
    }

    fn diagnosis(&self, events: &EventQueue) -> String {
        self.diagnosis_of(events)
    }
}
