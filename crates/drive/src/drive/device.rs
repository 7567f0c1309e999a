//! Device interface of a drive.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use crate::host_interface::HostInterface;
use interpulse_engine::{
    Agenda, Ahead, AuditReport, Completion, Device, News, Op, Request, RequestId, ResourceId, SimTime, Tag,
};
use std::ops::Range;

impl Device for Drive {
    const NAME: &'static str = "a drive";
    const GATHERS: bool = false;

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

    fn start(&mut self, agenda: &mut Agenda) -> Result<(), String> {
        self.ftl.start(&mut Flash { nand: &mut self.nand, agenda });
        self.arm_cut(agenda)
    }

    #[inline(always)]
    fn expect(&self, request: &Request, ahead: Ahead) {
        match (ahead, request.op) {
            (_, Op::Flush) => {}
            (Ahead::Far, _) => self.ftl.prefetch(self.host.first_unit(request)),
            (Ahead::Near, Op::Write) => self.ftl.prefetch_older(self.host.first_unit(request)),
            (Ahead::Near, Op::Read | Op::Trim) => {}
        }
    }

    #[inline]
    fn submit(&mut self, agenda: &mut Agenda, queue: u32, tag: Tag, request: Request) -> RequestId {
        self.host.submit(agenda, queue, tag, request)
    }

    #[inline(always)]
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32> {
        let index = resource.0 - self.place.first;
        if index < self.place.flash {
            self.nand.on_timer(agenda, index);
            if self.nand.has_ended() {
                self.take_ended(agenda);
            }
            return None;
        }
        match index - self.place.flash {
            0 => {
                let id = self.host.firmware.pop(agenda);
                self.firmware_done(agenda, id);
            }
            1 => {
                let id = self.host.arriving.pop(agenda);
                self.data_arrived(agenda, id);
            }
            2 => {
                let id = self.host.dram.pop(agenda);
                self.dram_done(agenda, id);
            }
            3 => {
                let id = self.host.leaving.pop(agenda);
                self.complete(agenda, id);
            }
            other => match other - HostInterface::LINES {
                k if k < self.place.host_timers => return Some(k),
                later => self.on_later_timer(agenda, later - self.place.host_timers),
            },
        }
        None
    }

    #[inline(always)]
    fn has_news(&self) -> bool {
        self.host.news.is_some()
    }

    #[inline]
    fn news(&self) -> Option<News<Completion<'_>>> {
        match self.host.news? {
            News::Served => Some(News::Served),
            News::Completed(id) => {
                let r = self.host.requests.get(id);
                Some(News::Completed(Completion {
                    id,
                    tag: r.tag,
                    op: r.op,
                    bytes: r.bytes,
                    submitted: r.submitted,
                    failed: r.failed,
                    busy: r.busy,
                    account: Some(&r.account),
                }))
            }
        }
    }

    #[inline]
    fn take_news(&mut self) {
        if let Some(News::Completed(id)) = self.host.news.take() {
            self.host.requests.remove(id);
        }
    }

    #[inline]
    fn outstanding(&self) -> usize {
        self.host.requests.live() + usize::from(self.is_down())
    }

    #[inline]
    fn completed(&self) -> u64 {
        self.host.completed
    }

    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime)) {
        self.host.requests.iter().for_each(|(_, request)| each(request.op, request.submitted));
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

    fn diagnosis(&self, agenda: &Agenda) -> String {
        self.diagnosis_of(agenda)
    }
}
