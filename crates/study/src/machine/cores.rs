//! Cores: a thread holds one core while it works; an idle core goes to the lowest waiting rank.

use super::condition::Condition;
use crate::control::lock;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

/// Cores of a machine.
pub struct Cores(Condition<Now>);

struct Now {
    idle: usize,
    /// Waiting threads by rank.
    waiting: BTreeMap<u64, usize>,
}

impl Cores {
    /// `count` idle cores.
    pub fn new(count: usize) -> Cores {
        let now = Now { idle: count, waiting: BTreeMap::new() };
        Cores(Condition { now: Mutex::new(now), changed: Condvar::new() })
    }

    /// Waits until a core is idle and no lower rank waits; `None` once `cancelled`.
    pub fn take(&self, rank: u64, cancelled: &mut dyn FnMut() -> bool) -> Option<Core<'_>> {
        let mut now = lock(&self.0.now);
        *now.waiting.entry(rank).or_default() += 1;
        let taken = self.0.wait(now, cancelled, |now| {
            let first = now.waiting.first_key_value().is_some_and(|(&first, _)| first == rank);
            (first && now.idle > 0).then(|| now.idle -= 1)
        });
        // The thread no longer waits, with or without a core.
        self.0.change(|now| {
            let waiting = now.waiting.get_mut(&rank).expect("counted above");
            *waiting -= 1;
            if *waiting == 0 {
                now.waiting.remove(&rank);
            }
        });
        taken.map(|()| Core(self))
    }

    /// Returns a core.
    pub fn give(&self) {
        self.0.change(|now| now.idle += 1);
    }

    /// Number of waiting threads.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        lock(&self.0.now).waiting.values().sum()
    }
}

/// A held core; dropping it returns it.
pub struct Core<'a>(&'a Cores);

impl Core<'_> {
    /// Keeps the core taken.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Core<'_> {
    fn drop(&mut self) {
        self.0.give();
    }
}
