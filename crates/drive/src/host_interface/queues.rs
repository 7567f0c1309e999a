//! NVMe submission queues: depth, and arbitration of fetches.

use super::queue_classes::{ClassArbiter, ClassSpec};
use interpulse_engine::RequestId;
use interpulse_settings::choices;
use std::collections::VecDeque;

choices! {
    /// Arbitration between submission queues.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Arbitration {
        /// one command from each non-empty queue in turn
        RoundRobin = "round-robin",
        /// as many commands in turn as the queue's weight says
        Weighted = "weighted",
        /// weighted round robin with urgent priority class (NVMe)
        Classes = "classes",
    }
}

#[derive(Clone, Debug)]
struct Pair {
    /// Commands submitted and not fetched.
    entries: VecDeque<RequestId>,
    /// Requests in the host that found the queue full.
    waiting: VecDeque<RequestId>,
    /// Commands submitted and not completed.
    outstanding: u32,
    weight: u32,
}

/// Queue pairs of a drive and the commands fetched from them.
#[derive(Clone, Debug)]
pub struct Queues {
    pairs: Vec<Pair>,
    /// Entries of all queues.
    entries: usize,
    depth: u32,
    arbitration: Arbitration,
    /// Commands fetched and not completed.
    in_controller: u32,
    max_in_controller: u32,
    turn: usize,
    credit: u32,
    /// With `arbitration = "classes"`.
    classes: Option<Box<ClassArbiter>>,
}

impl Queues {
    /// Queues with these weights, each `depth` deep; at most `max_in_controller` commands are fetched at a time.
    pub fn new(weights: &[u32], depth: u32, arbitration: Arbitration, max_in_controller: u32) -> Queues {
        let pair = |&weight: &u32| Pair {
            entries: VecDeque::new(),
            waiting: VecDeque::new(),
            outstanding: 0,
            weight,
        };
        Queues {
            pairs: weights.iter().map(pair).collect(),
            entries: 0,
            depth,
            arbitration,
            in_controller: 0,
            max_in_controller,
            turn: 0,
            credit: 0,
            classes: None,
        }
    }

    /// These queues in the classes of `spec`.
    pub fn in_classes(mut self, spec: Option<&ClassSpec>) -> Queues {
        self.classes = spec.map(|spec| Box::new(ClassArbiter::new(spec, self.pairs.len())));
        self
    }

    /// Submits a command on `queue`. True if the controller takes it at once; otherwise it must [wait](Queues::wait).
    #[inline]
    pub fn submit(&mut self, queue: usize) -> bool {
        let pair = &mut self.pairs[queue];
        // With room in the controller all queues are empty, so order is kept.
        let taken = pair.outstanding != self.depth && self.in_controller < self.max_in_controller;
        if taken {
            pair.outstanding += 1;
            self.in_controller += 1;
        }
        taken
    }

    /// Queues the submitted command `id`, which the controller has not taken, or holds it in the host if the queue is full.
    pub fn wait(&mut self, queue: usize, id: RequestId) {
        let pair = &mut self.pairs[queue];
        if pair.outstanding == self.depth {
            pair.waiting.push_back(id);
            return;
        }
        pair.outstanding += 1;
        pair.entries.push_back(id);
        self.entries += 1;
    }

    /// Completes a command of `queue`; returns the command that the controller fetches next.
    #[inline]
    pub fn complete(&mut self, queue: usize) -> Option<RequestId> {
        self.in_controller -= 1;
        let pair = &mut self.pairs[queue];
        pair.outstanding -= 1;
        if let Some(id) = pair.waiting.pop_front() {
            pair.outstanding += 1;
            pair.entries.push_back(id);
            self.entries += 1;
        }
        if self.entries == 0 {
            return None;
        }
        self.entries -= 1;
        self.in_controller += 1;
        Some(self.arbitrate())
    }

    /// Commands fetched and not completed.
    pub fn in_controller(&self) -> u32 {
        self.in_controller
    }

    /// Requests in the host's queues that the controller has not fetched.
    pub fn unfetched(&self) -> usize {
        self.pairs.iter().map(|p| p.entries.len() + p.waiting.len()).sum()
    }

    /// Next command; one must be queued.
    fn arbitrate(&mut self) -> RequestId {
        if let Some(classes) = &mut self.classes {
            let queue = classes.next(|queue| !self.pairs[queue].entries.is_empty());
            return self.pairs[queue].entries.pop_front().expect("the arbiter has checked it");
        }
        let n = self.pairs.len();
        if self.credit > 0
            && let Some(id) = self.pairs[self.turn].entries.pop_front()
        {
            self.credit -= 1;
            return id;
        }
        for step in 1..=n {
            let q = (self.turn + step) % n;
            if let Some(id) = self.pairs[q].entries.pop_front() {
                self.turn = q;
                self.credit = match self.arbitration {
                    Arbitration::RoundRobin | Arbitration::Classes => 0,
                    Arbitration::Weighted => self.pairs[q].weight - 1,
                };
                return id;
            }
        }
        unreachable!("{} commands in no queue", self.entries + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(arbitration: Arbitration, weights: &[u32]) -> Vec<u32> {
        let mut q = Queues::new(weights, 64, arbitration, 1);
        assert!(q.submit(0));
        for k in 0..8 {
            for pair in 0..weights.len() {
                assert!(!q.submit(pair));
                q.wait(pair, RequestId(pair as u32 * 100 + k));
            }
        }
        (0..8).map(|_| q.complete(0).unwrap().0 / 100).collect()
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(order(Arbitration::RoundRobin, &[1, 1, 1]), [1, 2, 0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn weights_give_shares() {
        assert_eq!(order(Arbitration::Weighted, &[1, 3]), [1, 1, 1, 0, 1, 1, 1, 0]);
    }

    #[test]
    fn a_full_queue_keeps_requests_in_the_host_in_order() {
        let mut q = Queues::new(&[1], 2, Arbitration::RoundRobin, 1024);
        let [third, fourth] = [3, 4].map(RequestId);
        assert!(q.submit(0) && q.submit(0) && !q.submit(0));
        q.wait(0, third);
        assert!(!q.submit(0));
        q.wait(0, fourth);
        assert_eq!(q.unfetched(), 2);
        assert_eq!(q.complete(0), Some(third));
        assert_eq!(q.complete(0), Some(fourth));
        assert_eq!(q.complete(0), None);
    }
}
