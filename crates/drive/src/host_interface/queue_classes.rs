//! Weighted round robin with urgent priority class (NVMe base specification, command arbitration): classes of submission queues,
//! their weights, and the arbitration burst.

use interpulse_flash::nand::flow_order::Rank;
use interpulse_settings::{choices, default, keys, required};

choices! {
    /// Priority class of a submission queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum QueueClass {
        /// before all other classes
        Urgent = "urgent",
        /// high weighted class
        High = "high",
        /// medium weighted class
        Medium = "medium",
        /// low weighted class
        Low = "low",
    }
}

keys! {
    /// Classes of the submission queues, and what arbitrates between them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ClassSpec, pub fn read(s) {
        /// priority class of each queue pair; one class is that of all
        pub queue_classes: Vec<QueueClass> = list_choice(Some(&["medium"]), QueueClass::ALL),
        /// commands of the high, medium and low class in a round; urgent commands go before all of them
        pub class_weights: Vec<u32> = list_u32(Some(&[8, 4, 2]), required().within(1..=256)),
        /// most commands that are fetched from a queue before the next queue of its class
        pub arbitration_burst: u32 = u32(default(1).within(1..=64)),
    } check {
        s.check(class_weights.len() == 3, "class-weights", "three weights: of the high, medium and low class")?;
        let legal = "a power of two from 1 to 64, as NVMe states it";
        s.check(arbitration_burst.is_power_of_two(), "arbitration-burst", legal)?;
    }
}

impl ClassSpec {
    /// Rank of the class of a queue pair at the dies.
    pub fn rank_of(&self, queue: usize) -> Rank {
        match self.queue_classes[if self.queue_classes.len() == 1 { 0 } else { queue }] {
            QueueClass::Urgent => Rank::URGENT,
            QueueClass::High => Rank(1),
            QueueClass::Medium => Rank(2),
            QueueClass::Low => Rank::LOW,
        }
    }

    /// Whether there is a class for each of `queues` queue pairs.
    pub fn covers(&self, queues: usize) -> bool {
        self.queue_classes.len() == 1 || self.queue_classes.len() == queues
    }
}

/// Weighted classes.
const WEIGHTED: usize = 3;
/// Number of the urgent class behind the weighted ones.
const URGENT: usize = WEIGHTED;

/// Arbitration between queues of several classes.
#[derive(Clone, Debug)]
pub struct ClassArbiter {
    /// Queues of each class: high, medium, low, urgent.
    queues: [Vec<usize>; WEIGHTED + 1],
    weights: [u32; WEIGHTED],
    /// Commands that each weighted class has left in the current round.
    left: [u32; WEIGHTED],
    /// Position of the current queue of each class in its list, and the commands of its burst that are left.
    turns: [(usize, u32); WEIGHTED + 1],
    burst: u32,
}

impl ClassArbiter {
    /// Arbitration of `spec` between `queues` queues.
    pub fn new(spec: &ClassSpec, queues: usize) -> ClassArbiter {
        let mut of_class: [Vec<usize>; WEIGHTED + 1] = Default::default();
        for queue in 0..queues {
            let class = spec.queue_classes[if spec.queue_classes.len() == 1 { 0 } else { queue }];
            of_class[match class {
                QueueClass::High => 0,
                QueueClass::Medium => 1,
                QueueClass::Low => 2,
                QueueClass::Urgent => URGENT,
            }]
            .push(queue);
        }
        let weights = [spec.class_weights[0], spec.class_weights[1], spec.class_weights[2]];
        // The first queue of each class comes first.
        let turns = std::array::from_fn(|k| (of_class[k].len().saturating_sub(1), 0));
        ClassArbiter { queues: of_class, weights, left: weights, turns, burst: spec.arbitration_burst }
    }

    /// The queue of the next command; one at least `has` commands.
    pub fn next(&mut self, has: impl Fn(usize) -> bool) -> usize {
        let waits = |class: &usize| self.queues[*class].iter().any(|&queue| has(queue));
        if waits(&URGENT) {
            return self.next_of(URGENT, has);
        }
        let class = (0..WEIGHTED).filter(waits).find(|&class| self.left[class] > 0).unwrap_or_else(|| {
            // Every class that waits has had its commands of the round.
            let first = (0..WEIGHTED).find(waits).expect("a queue has commands");
            self.left = self.weights;
            first
        });
        self.left[class] -= 1;
        self.next_of(class, has)
    }

    /// The queue of the next command of `class`.
    fn next_of(&mut self, class: usize, has: impl Fn(usize) -> bool) -> usize {
        let queues = &self.queues[class];
        let (at, left) = &mut self.turns[class];
        if *left > 0 && has(queues[*at]) {
            *left -= 1;
            return queues[*at];
        }
        let steps = (1..=queues.len()).map(|step| (*at + step) % queues.len());
        *at = steps.into_iter().find(|&k| has(queues[k])).expect("a queue of the class has commands");
        *left = self.burst - 1;
        queues[*at]
    }
}

#[cfg(test)]
mod tests {
    use super::QueueClass::{High, Low, Medium, Urgent};
    use super::*;

    /// The queues of the next `n` commands, where those of `waiting` always have commands.
    fn order(classes: &[QueueClass], burst: u32, waiting: &[usize], n: usize) -> Vec<usize> {
        let spec = ClassSpec {
            queue_classes: classes.to_vec(),
            class_weights: vec![3, 2, 1],
            arbitration_burst: burst,
        };
        let mut arbiter = ClassArbiter::new(&spec, classes.len());
        (0..n).map(|_| arbiter.next(|queue| waiting.contains(&queue))).collect()
    }

    #[test]
    fn classes_have_their_weights_in_every_round() {
        let classes = [Low, High, Medium];
        assert_eq!(order(&classes, 1, &[0, 1, 2], 12), [1, 1, 1, 2, 2, 0, 1, 1, 1, 2, 2, 0]);
        assert_eq!(order(&classes, 1, &[0, 1], 8), [1, 1, 1, 0, 1, 1, 1, 0], "an empty class takes no time");
        assert_eq!(order(&classes, 1, &[0], 3), [0, 0, 0]);
    }

    #[test]
    fn urgent_commands_go_first() {
        let classes = [Urgent, High, Urgent, Low];
        assert_eq!(order(&classes, 1, &[0, 1, 2, 3], 4), [0, 2, 0, 2]);
        assert_eq!(order(&classes, 1, &[1, 3], 4), [1, 1, 1, 3]);
    }

    #[test]
    fn queues_of_a_class_take_turns_in_bursts() {
        let classes = [Medium, Medium, Low];
        assert_eq!(order(&classes, 1, &[0, 1, 2], 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(order(&classes, 4, &[0, 1], 10), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]);
        assert_eq!(order(&[Medium], 4, &[0], 2), [0, 0]);
    }
}
