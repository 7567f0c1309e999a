//! States being made: of two runs that need the same one, the second takes what the first has kept.

use super::awaited::Awaited;
use crate::control::lock;
use std::collections::HashSet;

/// The hashes of states being made.
#[derive(Default)]
pub struct Making(Awaited<HashSet<String>>);

impl Making {
    /// The right to make the state `hash`, unless somebody has it.
    pub fn claim(&self, hash: &str) -> Option<Claim<'_>> {
        let free = lock(&self.0.now).insert(hash.to_string());
        free.then(|| Claim { of: self, hash: hash.to_string() })
    }

    /// Waits until nobody makes the state `hash`, or `given_up`.
    pub fn wait(&self, hash: &str, given_up: &mut dyn FnMut() -> bool) {
        self.0.wait(lock(&self.0.now), given_up, |now| (!now.contains(hash)).then_some(()));
    }
}

/// The right to make a state, until the end of this.
pub struct Claim<'a> {
    of: &'a Making,
    hash: String,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.of.0.change(|now| now.remove(&self.hash));
    }
}
