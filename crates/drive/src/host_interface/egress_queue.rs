//! Egress queue: completions and read data waiting for the host link.
//!
//! When something will be ready is mostly known before it is, as with a page that is being decoded. It stands in line
//! from then on, where it will be when the time has come, so that nothing has to happen at the instant in which it is
//! ready. What is ready at one instant leaves in the order in which the event queue would have handled the events that make
//! it so.

use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, Ring, SimTime};

/// When something is ready: an instant, and whose timer stands for the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready {
    /// The instant.
    pub at: SimTime,
    /// Whose event it is, or would be.
    pub by: ResourceId,
}

impl Ready {
    /// With the event that is being handled.
    #[inline]
    pub fn now(events: &EventQueue) -> Ready {
        Ready { at: events.now(), by: events.current() }
    }
}

/// One thing in the line.
#[derive(Clone, Copy)]
struct Entry {
    ready: Ready,
    id: RequestId,
    /// How long it takes on its way out.
    takes: Duration,
}

/// The line, with a timer for the instant in which its head is out.
#[derive(Clone)]
pub struct EgressQueue {
    /// In the order in which they are ready; equal ones as they came.
    line: Ring<Entry>,
    /// When the last one was out.
    free_at: SimTime,
    timer: ResourceId,
}

impl EgressQueue {
    /// An empty line with this timer.
    pub fn new(timer: ResourceId) -> EgressQueue {
        EgressQueue { line: Ring::default(), free_at: SimTime::ZERO, timer }
    }

    /// Adds `id`, which takes so long from when it is ready and those before it are out. Nothing is put before what has
    /// begun to leave: what is told is told before it is ready.
    #[inline(always)]
    pub fn push(&mut self, events: &mut EventQueue, ready: Ready, id: RequestId, takes: Duration) {
        let last = self.line.back();
        if last.is_some_and(|last| last.ready > ready) {
            // In pieces: lent as a whole it would be put together in memory for each, and read from there too soon.
            self.overtake(events, ready.at, ready.by, id, takes);
            return;
        }
        self.line.push(Entry { ready, id, takes });
        if last.is_none() {
            events.arm(self.timer, self.out(ready.at, takes));
        }
    }

    /// Puts an entry before those that are ready later, of which there are some.
    #[inline(never)]
    fn overtake(
        &mut self,
        events: &mut EventQueue,
        at: SimTime,
        by: ResourceId,
        id: RequestId,
        takes: Duration,
    ) {
        let entry = Entry { ready: Ready { at, by }, id, takes };
        let mut place = self.line.len();
        self.line.push(entry);
        while let Some(before) = place.checked_sub(1).and_then(|k| self.line.get(k)) {
            if before.ready <= entry.ready {
                break;
            }
            self.line.set(place, before);
            place -= 1;
        }
        self.line.set(place, entry);
        if place == 0 {
            events.arm(self.timer, self.out(at, takes));
        }
    }

    /// Takes the head, which is out now, and arms the timer for the next.
    #[inline]
    pub fn pop(&mut self, events: &mut EventQueue) -> RequestId {
        let head = self.line.pop().expect("the timer of an empty line is not armed");
        self.free_at = events.now();
        if let Some(next) = self.line.front() {
            events.arm(self.timer, self.out(next.ready.at, next.takes));
        }
        head.id
    }

    /// When a head is out that is ready at this instant and takes so long.
    #[inline]
    fn out(&self, ready: SimTime, takes: Duration) -> SimTime {
        self.free_at.max(ready) + takes
    }

    /// How many there are that will be ready with events of these resources, all of them still to come.
    pub fn to_come(&self, events: &EventQueue, by: std::ops::Range<u32>) -> usize {
        let now = Ready::now(events);
        self.line.iter().filter(|entry| entry.ready > now && by.contains(&entry.ready.by.0)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMER: ResourceId = ResourceId(9);

    /// What leaves, and when.
    fn drain(events: &mut EventQueue, line: &mut EgressQueue, until: u64) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        while let Some((at, by)) = events.next(SimTime(until)) {
            assert_eq!(by, TIMER);
            out.push((at.0, line.pop(events).0));
            events.settle();
        }
        out
    }

    fn ready(at: u64, by: u32) -> Ready {
        Ready { at: SimTime(at), by: ResourceId(by) }
    }

    #[test]
    fn what_is_ready_earlier_leaves_earlier_and_each_waits_for_the_one_before() {
        let (mut events, mut line) = (EventQueue::new(10), EgressQueue::new(TIMER));
        let each = [(50, 1, 0), (40, 3, 1), (40, 2, 2), (50, 1, 3), (100, 0, 4)];
        for (at, by, id) in each {
            line.push(&mut events, ready(at, by), RequestId(id), Duration(8));
        }
        assert_eq!(line.to_come(&events, 1..3), 3);
        assert_eq!(drain(&mut events, &mut line, 1000), [(48, 2), (56, 1), (64, 0), (72, 3), (108, 4)]);
    }

    proptest! {
        /// What was told ahead leaves as if it had been put in line in the instant in which it is ready.
        #[test]
        fn foretelling_changes_nothing(
            mut each in prop::collection::vec((0u64..60, 0u64..40, 0u32..8, 1u64..9), 1..40)
        ) {
            each.sort_unstable();
            let (mut events, mut line, mut out) = (EventQueue::new(10), EgressQueue::new(TIMER), Vec::new());
            for (id, &(told, ahead, by, takes)) in (0..).zip(&each) {
                out.extend(drain(&mut events, &mut line, told));
                events.advance_to(SimTime(told));
                // Ready after the instant in which it is told, whose other events may be over.
                line.push(&mut events, ready(told + 1 + ahead, by), RequestId(id), Duration(takes));
            }
            out.extend(drain(&mut events, &mut line, 10_000));
            let mut order: Vec<_> = (0u32..).zip(&each).map(|(id, e)| (e.0 + 1 + e.1, e.2, id, e.3)).collect();
            order.sort_unstable();
            let mut free = 0;
            let expected: Vec<_> = order.iter().map(|&(at, _, id, takes)| {
                free = free.max(at) + takes;
                (free, id)
            }).collect();
            prop_assert_eq!(out, expected);
        }
    }
}
