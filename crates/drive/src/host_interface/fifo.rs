//! FIFO whose timer fires when its head has been transmitted.

use interpulse_engine::{EventQueue, RequestId, ResourceId, Ring, SimTime};

/// Requests in order of the end of their transfer.
#[derive(Clone)]
pub struct Line {
    entries: Ring<(SimTime, RequestId)>,
    timer: ResourceId,
}

impl Line {
    /// Empty FIFO with this timer.
    pub fn new(timer: ResourceId) -> Line {
        Line { entries: Ring::default(), timer }
    }

    /// Adds `id`, which leaves at `at`, not before earlier entries.
    #[inline]
    pub fn push(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        if self.is_first(at, id) {
            events.arm(self.timer, at);
        }
    }

    /// [`Line::push`] for a time before which other events are unlikely.
    #[inline(always)]
    pub fn push_soon(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        if self.is_first(at, id) {
            events.arm_soon(self.timer, at);
        }
    }

    /// Adds `id`; returns whether it is the only entry.
    #[inline(always)]
    fn is_first(&mut self, at: SimTime, id: RequestId) -> bool {
        debug_assert!(self.entries.back().is_none_or(|(t, _)| t <= at), "entries leave in order");
        self.entries.push((at, id));
        self.entries.len() == 1
    }

    /// Takes the head, which leaves now, and arms the timer for the next.
    #[inline]
    pub fn pop(&mut self, events: &mut EventQueue) -> RequestId {
        let (_, id) = self.entries.pop().expect("the timer of an empty line is not armed");
        if let Some((at, _)) = self.entries.front() {
            events.arm(self.timer, at);
        }
        id
    }

    /// Timer of the FIFO.
    pub fn timer(&self) -> ResourceId {
        self.timer
    }

    /// Entries in the FIFO.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the FIFO is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
