//! Requests that the host splits: the commands of a request with more data than the drive takes at once (NVMe: MDTS).
//!
//! All commands of a request are submitted with it, in order of address, and enter their queue one by one as it has places. The
//! last one to complete ends the request, whose latency account is that of this command.

use super::interface::HostInterface;
use super::request::{FailFast, Request};
use super::splitter::PartOf;
use interpulse_engine::{
    DeviceEvent, EventQueue, Op, Request as HostRequest, RequestId, SimTime, Status, Tag, Waiting,
};

impl HostInterface {
    /// Number of the commands of a request.
    pub(crate) fn commands_of(&self, request: &HostRequest) -> u32 {
        let (mut commands, mut rest) = (1, *request);
        while let Some(next) = self.divided(rest).1 {
            (commands, rest) = (commands + 1, next);
        }
        commands
    }

    /// The first command of a request, and what remains of the request.
    fn divided(&self, request: HostRequest) -> (HostRequest, Option<HostRequest>) {
        if !self.splitter.splits(&request) {
            return (request, None);
        }
        // Commands after the first begin with a unit, as Linux aligns them to physical blocks.
        let full = request.sector + u64::from(self.splitter.most);
        let sector = full >> self.unit_shift << self.unit_shift;
        let part = |from: u64, to: u64| HostRequest { sector: from, sectors: (to - from) as u32, ..request };
        (part(request.sector, sector), Some(part(sector, request.end())))
    }

    /// Submits a request of several commands. `None` if all of it waits in the host; commands without a place in the queue do
    /// in any case.
    pub(crate) fn submit_split(
        &mut self,
        events: &mut EventQueue,
        queue: usize,
        tag: Tag,
        request: HostRequest,
    ) -> Option<RequestId> {
        self.issued += 1;
        let waiting = Waiting { submitted: events.now(), tag, request };
        if self.queues.is_full(queue) {
            self.queues.hold(queue, waiting);
            return None;
        }
        let whole = self.begin(queue, waiting);
        let mut left = Some(request);
        while let Some(request) = left {
            if self.queues.is_full(queue) {
                self.hold_rest(queue, whole, Waiting { request, ..waiting });
                break;
            }
            let (first, rest) = self.divided(request);
            let command = Waiting { request: first, ..waiting };
            let id = if self.queues.submit(queue) {
                self.take_command(events, queue as u16, command)
            } else {
                self.enter(queue, command)
            };
            self.splitter.entered(id, whole);
            left = rest;
        }
        Some(whole)
    }

    /// Stores a request of several commands, none of which has entered its queue.
    fn begin(&mut self, queue: usize, waiting: Waiting) -> RequestId {
        let commands = self.commands_of(&waiting.request);
        let whole = self.store_queued(queue as u16, waiting);
        self.splitter.split(whole);
        self.requests.get_mut(whole).reads_left = commands;
        whole
    }

    fn hold_rest(&mut self, queue: usize, whole: RequestId, rest: Waiting) {
        self.queues.hold_rest(queue, rest);
        self.splitter.begun.push((queue, whole));
    }

    /// Queues a command of a request, or of the rest of one, that has waited in the host for a place in `queue`.
    #[cold]
    pub(super) fn admit_command(&mut self, queue: usize, waiting: Waiting) {
        let begun = self.splitter.begun.iter().position(|&(of, _)| of == queue);
        let whole = match begun {
            Some(at) => self.splitter.begun.swap_remove(at).1,
            None => {
                let whole = self.begin(queue, waiting);
                self.entered = Some((whole, waiting));
                whole
            }
        };
        let (first, rest) = self.divided(waiting.request);
        let id = self.enter(queue, Waiting { request: first, ..waiting });
        self.splitter.entered(id, whole);
        if self.requests.get(whole).fail_fast != FailFast::No {
            self.requests.get_mut(id).fail_fast = FailFast::Allowed;
        }
        if let Some(request) = rest {
            self.hold_rest(queue, whole, Waiting { request, ..waiting });
        }
    }

    /// Completes a command of a split request, and the request with its last command; or a request of one command.
    #[cold]
    #[inline(never)]
    pub(super) fn command_completed(&mut self, id: RequestId) {
        let part_of = self.splitter.part_of(id);
        if part_of == PartOf::WHOLE {
            return self.request_completed(id);
        }
        let PartOf(whole) = part_of;
        let command = self.requests.remove(id);
        self.splitter.ended(id);
        let request = self.requests.get_mut(whole);
        if request.status == Status::Success {
            request.status = command.status;
        }
        if command.status != Status::Success || command.fail_fast == FailFast::Failed {
            request.bytes = 0;
        }
        if command.fail_fast == FailFast::Failed {
            request.fail_fast = FailFast::Failed;
        }
        request.reads_left -= 1;
        if request.reads_left == 0 {
            (request.account, request.mark) = (command.account, command.mark);
            self.splitter.completed(whole);
            self.request_completed(whole);
        } else if self.entered.is_some() {
            self.notify(DeviceEvent::Entered);
        }
    }

    /// Makes the read `id` fail rather than wait, with all of its commands.
    pub(crate) fn allow_fail_fast(&mut self, id: RequestId) {
        self.requests.get_mut(id).fail_fast = FailFast::Allowed;
        if self.splitter.part_of(id) == PartOf::SPLIT {
            let of_it = |&part: &RequestId| self.splitter.part_of(part) == PartOf(id);
            let parts: Vec<RequestId> = self.requests.iter().map(|(part, _)| part).filter(of_it).collect();
            parts.into_iter().for_each(|part| self.requests.get_mut(part).fail_fast = FailFast::Allowed);
        }
    }

    /// Requests of the host that have entered their queue, at least in part: one entry for a split request.
    pub(crate) fn requests_of_host(&self) -> impl Iterator<Item = &Request> {
        let whole = |id: RequestId| matches!(self.splitter.part_of(id), PartOf::WHOLE | PartOf::SPLIT);
        self.requests.iter().filter(move |&(id, _)| whole(id)).map(|(_, request)| request)
    }

    /// Commands that have entered their queue and are not complete.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (RequestId, &Request)> {
        self.requests.iter().filter(|&(id, _)| self.splitter.part_of(id) != PartOf::SPLIT)
    }

    /// Operation and submission of every command that is not complete.
    pub(crate) fn all_commands(&self) -> impl Iterator<Item = (Op, SimTime)> {
        let in_queues = self.commands().map(|(_, command)| (command.op, command.submitted));
        let waiting = self.queues.all_waiting().chain(self.queues.rests());
        let each = move |of: Waiting| {
            let commands = self.commands_of(&of.request) as usize;
            std::iter::repeat_n((of.request.op, of.submitted), commands)
        };
        in_queues.chain(waiting.flat_map(each))
    }
}
