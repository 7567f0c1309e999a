//! Egress queue: completions and read data waiting for the host link.
//!
//! Ready times are mostly known in advance, as for a page being decoded. Entries are queued early at their final position,
//! so that readiness needs no event. Entries ready at the same instant leave in the order of the events that would make
//! them ready.

use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, Ring, SimTime};

/// Ready time of an entry: instant and ordering of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready {
    /// Instant.
    pub at: SimTime,
    /// Resource whose event makes the entry ready.
    pub by: ResourceId,
}

impl Ready {
    /// Ready with the event being handled.
    #[inline]
    pub fn now(events: &EventQueue) -> Ready {
        Ready { at: events.now(), by: events.current() }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    ready: Ready,
    id: RequestId,
    takes: Duration,
}

/// Queue with a timer for the end of its head's transfer.
#[derive(Clone)]
pub struct EgressQueue {
    /// In order of ready time; equal entries in order of arrival.
    line: Ring<Entry>,
    /// End of the last finished transfer.
    free_at: SimTime,
    timer: ResourceId,
}

impl EgressQueue {
    /// Empty queue with this timer.
    pub fn new(timer: ResourceId) -> EgressQueue {
        EgressQueue { line: Ring::default(), free_at: SimTime::ZERO, timer }
    }

    /// Adds `id` with transfer time `takes`, which starts when it is ready and earlier entries are out. Entries are added
    /// before they are ready, so none precedes a transfer that has begun.
    #[inline(always)]
    pub fn push(&mut self, events: &mut EventQueue, ready: Ready, id: RequestId, takes: Duration) {
        let last = self.line.back();
        if last.is_some_and(|last| last.ready > ready) {
            // Passed in pieces: a reference would spill the entry to memory and stall the read back.
            self.overtake(events, ready.at, ready.by, id, takes);
            return;
        }
        self.line.push(Entry { ready, id, takes });
        if last.is_none() {
            events.arm(self.timer, self.out(ready.at, takes));
        }
    }

    /// Inserts an entry before those that are ready later; there is at least one.
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

    /// Takes the head, whose transfer ends now, and arms the timer for the next.
    #[inline]
    pub fn pop(&mut self, events: &mut EventQueue) -> RequestId {
        let head = self.line.pop().expect("the timer of an empty line is not armed");
        self.free_at = events.now();
        if let Some(next) = self.line.front() {
            events.arm(self.timer, self.out(next.ready.at, next.takes));
        }
        head.id
    }

    /// End of the transfer of an entry ready at `ready`.
    #[inline]
    fn out(&self, ready: SimTime, takes: Duration) -> SimTime {
        self.free_at.max(ready) + takes
    }

    /// Number of entries that future events of these resources make ready.
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

    /// Entries that leave until `until`, with their times.
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
    fn entries_leave_in_order_of_readiness_one_after_another() {
        let (mut events, mut line) = (EventQueue::new(10), EgressQueue::new(TIMER));
        let each = [(50, 1, 0), (40, 3, 1), (40, 2, 2), (50, 1, 3), (100, 0, 4)];
        for (at, by, id) in each {
            line.push(&mut events, ready(at, by), RequestId(id), Duration(8));
        }
        assert_eq!(line.to_come(&events, 1..3), 3);
        assert_eq!(drain(&mut events, &mut line, 1000), [(48, 2), (56, 1), (64, 0), (72, 3), (108, 4)]);
    }

    proptest! {
        /// An entry added ahead of time leaves as if it had been added when it is ready.
        #[test]
        fn early_entries_change_nothing(
            mut each in prop::collection::vec((0u64..60, 0u64..40, 0u32..8, 1u64..9), 1..40)
        ) {
            each.sort_unstable();
            let (mut events, mut line, mut out) = (EventQueue::new(10), EgressQueue::new(TIMER), Vec::new());
            for (id, &(pushed, ahead, by, takes)) in (0..).zip(&each) {
                out.extend(drain(&mut events, &mut line, pushed));
                events.advance_to(SimTime(pushed));
                // Ready after the current instant, whose other events may be over.
                line.push(&mut events, ready(pushed + 1 + ahead, by), RequestId(id), Duration(takes));
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
