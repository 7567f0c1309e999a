//! Requests that the host has submitted and simulated time has not reached, in order of instant, then of submission.

use interpulse_engine::{Request, SimTime};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A request with its instant. The order of the fields is that of processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it arrives.
    pub at: SimTime,
    /// Its number among all requests.
    pub tag: u64,
    /// Returned with the completion.
    pub cookie: u64,
    /// The request in the sectors of the device.
    pub request: Request,
    /// Submission queue.
    pub queue: u32,
    /// Namespace, counted from zero.
    pub namespace: u32,
}

impl Arrival {
    fn key(&self) -> (SimTime, u64) {
        (self.at, self.tag)
    }
}

/// An arrival in a heap.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Late(Arrival);

impl Ord for Late {
    fn cmp(&self, other: &Late) -> std::cmp::Ordering {
        self.0.key().cmp(&other.0.key())
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Arrivals to come. Most hosts submit in order of instant: these take a queue, the others a heap.
#[derive(Default)]
pub struct Arrivals {
    in_order: VecDeque<Arrival>,
    late: BinaryHeap<Reverse<Late>>,
}

impl Arrivals {
    /// Adds an arrival whose tag is greater than all before.
    #[inline]
    pub fn push(&mut self, arrival: Arrival) {
        match self.in_order.back() {
            Some(last) if last.at > arrival.at => self.late.push(Reverse(Late(arrival))),
            _ => self.in_order.push_back(arrival),
        }
    }

    /// Makes room for `more` arrivals in order.
    pub fn reserve(&mut self, more: usize) {
        self.in_order.reserve(more);
    }

    /// The instant of the first.
    #[inline]
    pub fn first_at(&self) -> Option<SimTime> {
        let first = self.in_order.front().map(|arrival| arrival.at);
        match self.late.peek() {
            None => first,
            Some(Reverse(Late(late))) => Some(first.map_or(late.at, |at| at.min(late.at))),
        }
    }

    /// Removes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        if let Some(Reverse(Late(late))) = self.late.peek()
            && self.in_order.front().is_none_or(|first| late.key() < first.key())
        {
            return self.late.pop().map(|Reverse(Late(late))| late);
        }
        self.in_order.pop_front()
    }

    /// The `k`-th of those in order, to prefetch for it.
    #[inline]
    pub fn coming(&self, k: usize) -> Option<&Request> {
        self.in_order.get(k).map(|arrival| &arrival.request)
    }

    /// Number of arrivals.
    pub fn len(&self) -> usize {
        self.in_order.len() + self.late.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arrivals_leave_by_instant_and_then_by_submission(
            ats in prop::collection::vec(0u64..6, 0..40), pops in 0usize..20
        ) {
            let (mut arrivals, mut model) = (Arrivals::default(), Vec::new());
            for (tag, &at) in (0..).zip(&ats) {
                let (at, request) = (SimTime(at), Request::FLUSH);
                arrivals.push(Arrival { at, tag, cookie: 0, request, queue: 0, namespace: 0 });
                model.push((at, tag));
                if tag as usize == pops {
                    model.sort();
                    prop_assert_eq!(arrivals.pop().map(|a| a.key()), Some(model.remove(0)));
                }
            }
            model.sort();
            prop_assert_eq!(arrivals.len(), model.len());
            for (at, tag) in model {
                prop_assert_eq!(arrivals.first_at(), Some(at));
                prop_assert_eq!(arrivals.pop().map(|a| a.key()), Some((at, tag)));
            }
            prop_assert!(arrivals.pop().is_none() && arrivals.first_at().is_none());
        }
    }
}
