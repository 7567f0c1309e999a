//! Transfer limit of a host, and the requests that it has split.

use interpulse_engine::{Bytes, Op, Request as HostRequest, RequestId, SECTOR};

/// Request that a command belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf(pub(super) RequestId);

impl PartOf {
    /// The command is the request.
    pub const WHOLE: PartOf = PartOf(RequestId(u32::MAX));
    /// The entry is a request whose commands have entries of their own; it is not executed.
    pub const SPLIT: PartOf = PartOf(RequestId(u32::MAX - 1));
}

/// Largest command in sectors, and the split requests. What only these need is kept here, not in each request.
#[derive(Clone)]
pub(crate) struct Splitter {
    /// Most sectors of a command.
    pub(super) most: u32,
    /// Queues that a request has entered in part, and that request. What remains of it is the first that waits for a place.
    pub(super) begun: Vec<(usize, RequestId)>,
    /// By number of a request; empty without a limit.
    parts: Vec<PartOf>,
    /// Commands of split requests that have entered their queue and are not complete.
    commands: usize,
}

impl Splitter {
    /// Splits requests above `limit`, if there is one.
    pub(super) fn new(limit: Option<Bytes>) -> Splitter {
        let most = limit.map_or(u32::MAX, |limit| (limit.get() / SECTOR.get()) as u32);
        Splitter { most, begun: Vec::new(), parts: Vec::new(), commands: 0 }
    }

    /// Whether a command has more data than the drive takes at once.
    pub(crate) fn is_above(&self, bytes: u64) -> bool {
        bytes > u64::from(self.most) * SECTOR.get()
    }

    /// Whether the host splits a request. It does not split an append, whose completion names one address.
    pub(super) fn splits(&self, request: &HostRequest) -> bool {
        request.sectors > self.most && matches!(request.op, Op::Read | Op::Write | Op::Compare)
    }

    /// Whether the first request that waits for a place in `queue` is split, or the rest of one that was.
    pub(super) fn concerns(&self, queue: usize, first: &HostRequest) -> bool {
        self.splits(first) || self.begun.iter().any(|&(of, _)| of == queue)
    }

    /// Request that the entry `id` is a command of; an entry that is not in use is [whole](PartOf::WHOLE).
    pub(crate) fn part_of(&self, id: RequestId) -> PartOf {
        self.parts.get(id.index()).copied().unwrap_or(PartOf::WHOLE)
    }

    /// Marks the entry `whole` as a split request.
    pub(super) fn split(&mut self, whole: RequestId) {
        self.set(whole, PartOf::SPLIT);
    }

    /// The command `id` of the request `whole` has entered its queue.
    pub(super) fn entered(&mut self, id: RequestId, whole: RequestId) {
        self.set(id, PartOf(whole));
        self.commands += 1;
    }

    /// The command `id` is complete, or removed.
    pub(super) fn ended(&mut self, id: RequestId) {
        self.set(id, PartOf::WHOLE);
        self.commands -= 1;
    }

    /// The last command of `whole` is complete.
    pub(super) fn completed(&mut self, whole: RequestId) {
        self.set(whole, PartOf::WHOLE);
    }

    fn set(&mut self, id: RequestId, part_of: PartOf) {
        if self.parts.len() <= id.index() {
            self.parts.resize(id.index() + 1, PartOf::WHOLE);
        }
        self.parts[id.index()] = part_of;
    }

    /// Whether commands of split requests are in their queues.
    #[inline(always)]
    pub(super) fn has_commands(&self) -> bool {
        self.commands > 0
    }

    /// Commands and rests of split requests, which have an entry of their own.
    pub(super) fn counted_twice(&self) -> usize {
        self.commands + self.begun.len()
    }
}
