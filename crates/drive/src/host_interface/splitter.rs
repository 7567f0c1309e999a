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

/// Largest command in sectors, and the split requests.
#[derive(Clone)]
pub(crate) struct Splitter {
    /// Most sectors of a command.
    pub(super) most: u32,
    /// Queues that a request has entered in part, and that request. What remains of it is the first that waits for a place.
    pub(super) begun: Vec<(usize, RequestId)>,
    /// Commands of split requests that have entered their queue and are not complete.
    pub(super) commands: usize,
}

impl Splitter {
    /// Splits requests above `limit`, if there is one.
    pub(super) fn new(limit: Option<Bytes>) -> Splitter {
        let most = limit.map_or(u32::MAX, |limit| (limit.get() / SECTOR.get()) as u32);
        Splitter { most, begun: Vec::new(), commands: 0 }
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

    /// Commands and rests of split requests, which have an entry of their own.
    pub(super) fn counted_twice(&self) -> usize {
        self.commands + self.begun.len()
    }
}
