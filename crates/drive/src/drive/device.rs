//! The drive as a device: what its host sees of it.

use super::request::Request;
use super::{Drive, OWN_LINES};
use crate::ftl::Flash;
use interpulse_engine::account::NO_ACCOUNT;
use interpulse_engine::{Agenda, AuditReport, Completion, Device, News, Op, ResourceId, SimTime};
use std::ops::Range;

impl Device for Drive {
    const NAME: &'static str = "a drive";
    const GATHERS: bool = false;

    fn resources(&self) -> Range<u32> {
        self.first..self.first + Drive::resources(&self.spec, self.host_timers)
    }

    #[inline]
    fn host_timer(&self, k: u32) -> ResourceId {
        debug_assert!(k < self.host_timers, "timer {k} of {}", self.host_timers);
        ResourceId(self.first + self.flash_resources + OWN_LINES + k)
    }

    fn capacity_sectors(&self) -> u64 {
        self.spec.capacity_sectors().expect("the spec has been checked")
    }

    fn start(&mut self, agenda: &mut Agenda) -> Result<(), String> {
        self.ftl.start(&mut Flash { nand: &mut self.nand, agenda });
        self.arm_cut(agenda)
    }

    #[inline]
    fn submit(
        &mut self,
        agenda: &mut Agenda,
        queue: u32,
        tag: u32,
        request: interpulse_engine::Request,
    ) -> u32 {
        let now = agenda.now();
        self.issued += 1;
        let end = request.sector + u64::from(request.sectors);
        let unit = 1u64 << self.unit_shift;
        let lpn = (request.sector >> self.unit_shift) as u32;
        let units = (((end + unit - 1) >> self.unit_shift) - u64::from(lpn)) as u32;
        // The first look-up of a random address misses every cache: start it now, use it after firmware.
        if request.sectors > 0 {
            self.ftl.prefetch(lpn);
        }
        let id = self.requests.insert(Request {
            op: request.op,
            queue: queue as u16,
            tag,
            lpn,
            units: if request.op == Op::Flush { 0 } else { units },
            bytes: u64::from(request.sectors) * 512,
            partial: [request.sector & (unit - 1) != 0, end & (unit - 1) != 0],
            reads_left: 0,
            admitted: 0,
            unprogrammed: 0,
            submitted: now,
            mark: now,
            failed: false,
            fail_fast: false,
            busy: false,
            account: NO_ACCOUNT,
        });
        if self.queues.submit(queue as usize, id) {
            self.fetch(agenda, now, id);
        }
        id
    }

    #[inline(always)]
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) -> Option<u32> {
        let index = resource.0 - self.first;
        if index < self.flash_resources {
            self.nand.on_timer(agenda, index);
            self.drain_outcomes(agenda);
            return None;
        }
        match index - self.flash_resources {
            0 => {
                let id = self.firmware.pop(agenda);
                self.firmware_done(agenda, id);
            }
            1 => {
                let id = self.arriving.pop(agenda);
                self.data_arrived(agenda, id);
            }
            2 => {
                let id = self.dram.pop(agenda);
                self.dram_done(agenda, id);
            }
            3 => {
                let id = self.leaving.pop(agenda);
                self.complete(agenda, id);
            }
            other => match other - OWN_LINES {
                k if k < self.host_timers => return Some(k),
                later => self.on_later_timer(agenda, later - self.host_timers),
            },
        }
        None
    }

    #[inline(always)]
    fn has_news(&self) -> bool {
        self.news.is_some()
    }

    #[inline]
    fn news(&self) -> Option<News<Completion<'_>>> {
        match self.news? {
            News::Served => Some(News::Served),
            News::Completed(id) => {
                let r = self.requests.get(id);
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
        if let Some(News::Completed(id)) = self.news.take() {
            self.requests.remove(id);
        }
    }

    #[inline]
    fn outstanding(&self) -> usize {
        self.requests.live() + usize::from(self.is_down())
    }

    #[inline]
    fn completed(&self) -> u64 {
        self.completed
    }

    fn for_outstanding(&self, each: &mut dyn FnMut(Op, SimTime)) {
        self.requests.iter().for_each(|(_, request)| each(request.op, request.submitted));
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
        self.standing(agenda)
    }
}
