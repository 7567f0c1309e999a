//! NVMe submission queues: depth, and arbitration of fetches.

use super::queue_classes::{ClassArbiter, ClassSpec};
use super::waiting_line::WaitingLine;
use interpulse_engine::{RequestId, Waiting};
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
    waiting: WaitingLine,
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
    /// Requests of all queues that wait in the host.
    waiting: usize,
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
            waiting: WaitingLine::default(),
            outstanding: 0,
            weight,
        };
        Queues {
            pairs: weights.iter().map(pair).collect(),
            entries: 0,
            waiting: 0,
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

    /// Submits a command on `queue`. True if the controller takes it at once; otherwise it [waits in
    /// the host](Queues::hold) if the queue [is full](Queues::is_full), or [enters](Queues::enter) the queue.
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

    /// Whether `queue` has as many commands as it holds.
    pub fn is_full(&self, queue: usize) -> bool {
        self.pairs[queue].outstanding == self.depth
    }

    /// Holds a request in the host until a command of `queue`, which is full, completes.
    pub fn hold(&mut self, queue: usize, waiting: Waiting) {
        self.pairs[queue].waiting.push(waiting);
        self.waiting += 1;
    }

    /// Holds the rest of a request, of which a command has just entered the queue, before the others.
    pub fn hold_rest(&mut self, queue: usize, rest: Waiting) {
        self.pairs[queue].waiting.put_back(rest);
        self.waiting += 1;
    }

    /// Queues the command `id` in `queue`, which is not full.
    pub fn enter(&mut self, queue: usize, id: RequestId) {
        let pair = &mut self.pairs[queue];
        pair.outstanding += 1;
        pair.entries.push_back(id);
        self.entries += 1;
    }

    /// Completes a command of `queue`; returns the oldest request that waits for its place, which must
    /// [enter](Queues::enter) the queue.
    #[inline]
    pub fn complete(&mut self, queue: usize) -> Option<Waiting> {
        self.in_controller -= 1;
        let pair = &mut self.pairs[queue];
        pair.outstanding -= 1;
        let waiting = pair.waiting.pop()?;
        self.waiting -= 1;
        Some(waiting)
    }

    /// The command that the controller, which has room for it, fetches next.
    #[inline]
    pub fn fetch(&mut self) -> Option<RequestId> {
        if self.entries == 0 {
            return None;
        }
        self.entries -= 1;
        self.in_controller += 1;
        Some(self.arbitrate())
    }

    /// Takes the command `id` out of `queue`, if it is submitted and not fetched.
    pub fn take_out(&mut self, queue: usize, id: RequestId) -> bool {
        let entries = &mut self.pairs[queue].entries;
        let at = entries.iter().position(|&of| of == id);
        if let Some(at) = at {
            entries.remove(at);
            self.entries -= 1;
        }
        at.is_some()
    }

    /// As [`Queues::complete`] of a command that was [taken out](Queues::take_out) of `queue`.
    pub fn complete_unfetched(&mut self, queue: usize) -> Option<Waiting> {
        // The controller never held it.
        self.in_controller += 1;
        self.complete(queue)
    }

    /// Whether the controller has room for a command.
    pub fn may_fetch(&self) -> bool {
        self.in_controller < self.max_in_controller
    }

    /// Commands fetched and not completed.
    pub fn in_controller(&self) -> u32 {
        self.in_controller
    }

    /// Requests that wait in the host for a place in a queue.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Requests of which a part waits in the host, as that part.
    pub fn rests(&self) -> impl Iterator<Item = Waiting> {
        self.pairs.iter().filter_map(|pair| pair.waiting.rest())
    }

    /// Requests that wait in the host as a whole, queue by queue, oldest first.
    pub fn all_waiting(&self) -> impl Iterator<Item = Waiting> {
        self.pairs.iter().flat_map(|pair| pair.waiting.iter())
    }

    /// Requests in the host and its queues that the controller has not fetched.
    pub fn unfetched(&self) -> usize {
        self.entries + self.waiting
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
    use interpulse_engine::{Request, SimTime, Tag};

    fn order(arbitration: Arbitration, weights: &[u32]) -> Vec<u32> {
        let mut q = Queues::new(weights, 64, arbitration, 1);
        assert!(q.submit(0));
        for k in 0..8 {
            for pair in 0..weights.len() {
                assert!(!q.submit(pair));
                q.enter(pair, RequestId(pair as u32 * 100 + k));
            }
        }
        let mut next = || {
            assert_eq!(q.complete(0), None);
            q.fetch().unwrap().0 / 100
        };
        (0..8).map(|_| next()).collect()
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
        let request = |k| Waiting { submitted: SimTime(k), tag: Tag(0), request: Request::FLUSH };
        let [third, fourth] = [3, 4].map(request);
        assert!(q.submit(0) && q.submit(0) && !q.submit(0) && q.is_full(0));
        q.hold(0, third);
        assert!(!q.submit(0));
        q.hold(0, fourth);
        assert_eq!((q.unfetched(), q.waiting()), (2, 2));
        for waiting in [third, fourth] {
            assert_eq!(q.complete(0), Some(waiting));
            let id = RequestId(waiting.submitted.0 as u32);
            q.enter(0, id);
            assert_eq!((q.unfetched(), q.fetch(), q.fetch()), (q.waiting() + 1, Some(id), None));
        }
        assert_eq!((q.complete(0), q.fetch()), (None, None));
    }
}
