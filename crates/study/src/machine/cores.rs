//! Cores: whoever does something holds one, and an idle one goes to who comes first.

use super::awaited::Awaited;
use crate::control::lock;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

/// Cores of a machine.
pub struct Cores(Awaited<Now>);

struct Now {
    idle: usize,
    /// How many wait, by their rank.
    waiting: BTreeMap<u64, usize>,
}

impl Cores {
    /// So many.
    pub fn new(count: usize) -> Cores {
        let now = Now { idle: count, waiting: BTreeMap::new() };
        Cores(Awaited { now: Mutex::new(now), changed: Condvar::new() })
    }

    /// Waits until a core is idle and nobody of a lower rank waits for one; `None` once `given_up`.
    pub fn take(&self, rank: u64, given_up: &mut dyn FnMut() -> bool) -> Option<Core<'_>> {
        let mut now = lock(&self.0.now);
        *now.waiting.entry(rank).or_default() += 1;
        let taken = self.0.wait(now, given_up, |now| {
            let first = now.waiting.first_key_value().is_some_and(|(&first, _)| first == rank);
            (first && now.idle > 0).then(|| now.idle -= 1)
        });
        // Who has got one, or goes without, stands in nobody's way any more.
        self.0.change(|now| {
            let waiting = now.waiting.get_mut(&rank).expect("counted above");
            *waiting -= 1;
            if *waiting == 0 {
                now.waiting.remove(&rank);
            }
        });
        taken.map(|()| Core(self))
    }

    /// One more is idle.
    pub fn give(&self) {
        self.0.change(|now| now.idle += 1);
    }

    /// How many wait.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        lock(&self.0.now).waiting.values().sum()
    }
}

/// A core, given back with the end of this.
pub struct Core<'a>(&'a Cores);

impl Core<'_> {
    /// It stays taken.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Core<'_> {
    fn drop(&mut self) {
        self.0.give();
    }
}
