//! Order of the host reads that wait for a die by the priority class of their queue: urgent ones first, the others by weighted round
//! robin. Programs keep their order, which is that of the pages of a block; whether a read or a program goes next is left to the
//! policy of the die.
//!
//! A round has as many reads of a class as its weight, and a class that has had its share waits for the next round. Each read gets
//! its round when it begins to wait, so that the queue of the die is a sorted list.

use super::queue::Queue;
use super::txn::Slab;
use crate::command::Class;
use crate::ids::TxnId;
use interpulse_settings::choices;

choices! {
    /// Order of the host reads that wait for a die.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HostOrder {
        /// in order of submission
        Arrival = "arrival",
        /// by the class of their queue (host.queue-classes): urgent ones first, the others in turn by host.class-weights
        // As MQSim's TSU_Priority_OutOfOrder.
        QueueClasses = "queue-classes",
    }
}

/// Priority class of a host read, from urgent to low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(pub u8);

impl Rank {
    /// Before all others.
    pub const URGENT: Rank = Rank(0);
    /// The last weighted class.
    pub const LOW: Rank = Rank(3);
}

/// Weighted classes.
const WEIGHTED: usize = 3;

/// Rounds of the reads that wait for a die.
#[derive(Clone, Copy, Default)]
struct Rounds {
    /// Round of the next read of each weighted class, and the reads that it has in this round.
    next: [(u64, u32); WEIGHTED],
}

impl Rounds {
    /// Place in the order of a read of `rank`, while round `now` is served.
    fn place(&mut self, rank: Rank, now: u64, weights: [u32; WEIGHTED]) -> u64 {
        let Some(class) = usize::from(rank.0).checked_sub(1) else { return 0 };
        let (round, used) = &mut self.next[class];
        if *round < now {
            (*round, *used) = (now, 0);
        }
        let place = 4 * *round + class as u64 + 1;
        *used += 1;
        if *used == weights[class] {
            (*round, *used) = (*round + 1, 0);
        }
        place
    }
}

/// Order of the waiting host reads of all dies.
#[derive(Clone)]
pub(super) struct FlowOrder {
    weights: [u32; WEIGHTED],
    /// Class of the reads that are submitted next.
    rank: Rank,
    /// Place in the order of each waiting read, by number.
    places: Vec<u64>,
    /// Of each die.
    rounds: Vec<Rounds>,
}

impl FlowOrder {
    pub(super) fn new(weights: [u32; WEIGHTED], dies: usize) -> FlowOrder {
        FlowOrder { weights, rank: Rank::LOW, places: Vec::new(), rounds: vec![Rounds::default(); dies] }
    }

    pub(super) fn set_rank(&mut self, rank: Rank) {
        self.rank = rank;
    }

    /// Adds operation `id` of this class to the queue of die `d`.
    #[cold]
    pub(super) fn push(&mut self, queue: &mut Queue, slab: &mut Slab, d: usize, id: TxnId, class: Class) {
        if class != Class::HostRead {
            return queue.push(slab, id, class);
        }
        let (first, rounds) = (queue.first(class), &mut self.rounds[d]);
        // The round of the first one that is not urgent is served now; without any, all classes begin anew.
        let mut waiting = first;
        while waiting != TxnId::NONE && self.places[waiting.index()] == 0 {
            waiting = slab.get(waiting).next;
        }
        let now = if waiting == TxnId::NONE {
            let next = rounds.next.iter().map(|of| of.0).max().unwrap_or(0) + 1;
            rounds.next = [(next, 0); WEIGHTED];
            next
        } else {
            (self.places[waiting.index()] - 1) / 4
        };
        let place = rounds.place(self.rank, now, self.weights);
        self.note(id, place);
        let (mut before, mut at) = (TxnId::NONE, first);
        while at != TxnId::NONE && self.places[at.index()] <= place {
            (before, at) = (at, slab.get(at).next);
        }
        queue.insert(slab, before, id, class);
    }

    /// Notes that `id` goes to the front of its queue.
    pub(super) fn goes_first(&mut self, id: TxnId) {
        self.note(id, 0);
    }

    fn note(&mut self, id: TxnId, place: u64) {
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, 0);
        }
        self.places[id.index()] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::DieId;
    use crate::nand::txn::{Kind, Txn};

    /// The ranks of reads in the order of the queue, which come in this order.
    fn order(weights: [u32; 3], ranks: &[u8]) -> Vec<u8> {
        let (mut slab, mut queue) = (Slab::default(), Queue::default());
        let mut order = FlowOrder::new(weights, 1);
        for (k, &rank) in (0..).zip(ranks) {
            let mut txn = Txn::new(Kind::HostRead, DieId(0));
            (txn.page, txn.seq) = (u32::from(rank), k);
            let id = slab.insert(txn);
            order.set_rank(Rank(rank));
            order.push(&mut queue, &mut slab, 0, id, Class::HostRead);
        }
        (0..ranks.len())
            .map(|_| {
                let id = queue.pop(&slab, Class::HostRead);
                slab.remove(id).page as u8
            })
            .collect()
    }

    #[test]
    fn urgent_reads_go_first_and_the_others_by_weight() {
        assert_eq!(order([4, 2, 1], &[3, 3, 2, 0, 1, 0]), [0, 0, 1, 2, 3, 3]);
        let many = [3; 3].into_iter().chain([1; 6]).chain([2; 4]).collect::<Vec<_>>();
        assert_eq!(order([4, 2, 1], &many), [1, 1, 1, 1, 2, 2, 3, 1, 1, 2, 2, 3, 3]);
        assert_eq!(order([1, 1, 1], &[1, 1, 1, 3, 3]), [1, 3, 1, 3, 1]);
    }

    #[test]
    fn one_class_is_served_in_order_of_submission() {
        assert_eq!(order([8, 4, 2], &[2; 20]), [2; 20]);
        assert_eq!(order([8, 4, 2], &[0; 3]), [0; 3]);
    }
}
