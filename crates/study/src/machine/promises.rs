//! Memory promised to runs: of several, none begins that those before it might leave too little for.

use super::awaited::Awaited;
use crate::control::lock;
use crate::memory::Free;
use std::collections::{BTreeMap, BTreeSet};

/// What is promised to whom.
#[derive(Default)]
pub struct Promises(Awaited<Now>);

#[derive(Default)]
struct Now {
    /// Bytes that each run that has begun may take in all.
    made: BTreeMap<u64, u64>,
    /// Runs that have not, in the order of their ranks.
    asking: BTreeSet<(u64, u64)>,
    /// The next run's number.
    next: u64,
}

impl Promises {
    /// Waits until nobody else holds a promise, or all that is promised fits into what is free with `bytes` more; `None` once
    /// `given_up`. Those of lower ranks are asked first.
    ///
    /// Part of what is promised is taken already, and counts twice: more than there is is never promised.
    pub fn ask(
        &self,
        rank: u64,
        bytes: u64,
        free: &dyn Fn() -> Option<Free>,
        given_up: &mut dyn FnMut() -> bool,
    ) -> Option<Promise<'_>> {
        let mut now = lock(&self.0.now);
        let number = now.next;
        now.next += 1;
        now.asking.insert((rank, number));
        let granted = self.0.wait(now, given_up, |now| {
            let fits = || {
                let promised: u64 = now.made.values().sum();
                now.made.is_empty() || free().is_none_or(|free| promised.saturating_add(bytes) <= free.bytes)
            };
            (now.asking.first() == Some(&(rank, number)) && fits()).then_some(())
        });
        self.0.change(|now| {
            now.asking.remove(&(rank, number));
            granted.map(|()| now.made.insert(number, bytes));
        });
        granted.map(|()| Promise { of: self, number })
    }

    /// How many runs have not begun.
    #[cfg(test)]
    pub fn asking(&self) -> usize {
        lock(&self.0.now).asking.len()
    }
}

/// Memory that a run may take, until the end of this.
pub struct Promise<'a> {
    of: &'a Promises,
    number: u64,
}

impl Promise<'_> {
    /// From now on, so much is enough.
    pub fn shrink(&self, bytes: u64) {
        self.of.0.change(|now| now.made.insert(self.number, bytes));
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        self.of.0.change(|now| now.made.remove(&self.number));
    }
}
