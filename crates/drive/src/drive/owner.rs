//! A drive whose requests come from an owner above it, such as an array, instead of from flows of its own.
//!
//! The owner submits requests and drains what has completed after every event of the drive; the drive never calls up.

use super::{Drive, PreconditionedState};
use crate::ftl::Flash;
use crate::spec::DriveSpec;
use interpulse_engine::{Agenda, ResourceId};
use interpulse_workload::{Op, Request, WorkloadError};

/// A request of the owner that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its number.
    pub id: u32,
    /// Data that it had to read could not be corrected.
    pub failed: bool,
    /// A read that would have had to wait for garbage collection, see [`Drive::submit_fail_fast`]: it has no data.
    pub busy: bool,
}

/// The queue pair that an owner's requests take.
pub(super) const QUEUE: usize = 0;

impl Drive {
    /// A drive without flows, whose resources begin at `first`; its requests come through
    /// [`Drive::submit_request`]. Panics as [`Drive::new`] does.
    pub fn owned(
        spec: DriveSpec,
        state: PreconditionedState,
        seed: u64,
        first: ResourceId,
    ) -> Result<Drive, WorkloadError> {
        Drive::new(spec, state, &[], seed, first)
    }

    /// Submits a request of the owner now. The number it has is that of its completion, and free for another
    /// request from then on.
    #[inline]
    pub fn submit_request(&mut self, agenda: &mut Agenda, request: Request) -> u32 {
        debug_assert!(self.flows.is_empty(), "an owned drive has no flows");
        self.submit(agenda, 0, QUEUE, request)
    }

    /// Whether a request of the owner has completed that it has not asked for yet.
    #[inline]
    pub fn has_completed(&self) -> bool {
        !self.completions.is_empty()
    }

    /// The next request of the owner that has completed, in the order of completion.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Submits a read of the owner that fails as soon as firmware sees that it would have to wait for garbage
    /// collection; see [`Drive::submit_request`].
    pub fn submit_fail_fast(&mut self, agenda: &mut Agenda, request: Request) -> u32 {
        debug_assert_eq!(request.op, Op::Read);
        let id = self.submit_request(agenda, request);
        self.requests.get_mut(id).fail_fast = true;
        id
    }

    /// Fails the read `id` if it would have to wait for garbage collection: its completion leaves without data.
    #[cold]
    pub(super) fn fails_fast(&mut self, agenda: &mut Agenda, id: u32) -> bool {
        let now = agenda.now();
        let (lpn, units) = {
            let request = self.requests.get(id);
            (request.lpn, request.units)
        };
        let waits = self.ftl.waits_for_collection(&Flash { nand: &mut self.nand, agenda }, lpn, units);
        if waits {
            let request = self.requests.get_mut(id);
            (request.busy, request.bytes) = (true, 0);
            self.leave(agenda, now, id, 0);
        }
        waits
    }
}
