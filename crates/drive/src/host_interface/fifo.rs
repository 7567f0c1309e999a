//! FIFO whose timer fires when its head has been transmitted.

use interpulse_engine::{EventQueue, RequestId, ResourceId, Ring, SimTime};

/// Things in order of the instant they leave.
#[derive(Clone)]
pub struct Line {
    entries: Ring<(SimTime, RequestId)>,
    timer: ResourceId,
}

impl Line {
    /// An empty line with this timer.
    pub fn new(timer: ResourceId) -> Line {
        Line { entries: Ring::default(), timer }
    }

    /// Adds `id`, which leaves at `at`, not before what entered earlier.
    #[inline]
    pub fn push(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        if self.is_first(at, id) {
            events.arm(self.timer, at);
        }
    }

    /// As [`Line::push`], where mostly nothing else happens before it leaves.
    #[inline]
    pub fn push_soon(&mut self, events: &mut EventQueue, at: SimTime, id: RequestId) {
        if self.is_first(at, id) {
            events.arm_soon(self.timer, at);
        }
    }

    /// Adds `id` and says whether it is alone.
    #[inline(always)]
    fn is_first(&mut self, at: SimTime, id: RequestId) -> bool {
        debug_assert!(self.entries.back().is_none_or(|(t, _)| t <= at), "a line keeps its order");
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

    /// Its timer.
    pub fn timer(&self) -> ResourceId {
        self.timer
    }

    /// Things in the line.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the line is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
