//! Shared states: of two runs that need the same state, one builds it and the other loads its snapshot.

use super::condition::Condition;
use crate::control::lock;
use std::collections::HashSet;

/// Hashes of states being built.
#[derive(Default)]
pub struct SharedStates(Condition<HashSet<String>>);

impl SharedStates {
    /// Claims state `hash` unless another run builds it.
    pub fn claim(&self, hash: &str) -> Option<Claim<'_>> {
        let free = lock(&self.0.now).insert(hash.to_string());
        free.then(|| Claim { of: self, hash: hash.to_string() })
    }

    /// Waits until no run builds state `hash`, or `cancelled`.
    pub fn wait(&self, hash: &str, cancelled: &mut dyn FnMut() -> bool) {
        self.0.wait(lock(&self.0.now), cancelled, |now| (!now.contains(hash)).then_some(()));
    }
}

/// Right to build a state; dropping it ends the claim.
pub struct Claim<'a> {
    of: &'a SharedStates,
    hash: String,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.of.0.change(|now| now.remove(&self.hash));
    }
}
