//! States being made: of two runs that need the same one, the second takes what the first has kept.

use super::Awaited;
use crate::control::lock;
use std::collections::HashSet;

/// The hashes of states being made.
#[derive(Default)]
pub struct Making(Awaited<HashSet<String>>);

impl Making {
    /// Waits until nobody makes the state `hash`; `None` once `given_up`.
    pub fn claim(&self, hash: &str, given_up: &mut dyn FnMut() -> bool) -> Option<Claim<'_>> {
        let now = lock(&self.0.now);
        let claimed = self.0.wait(now, given_up, |now| now.insert(hash.to_string()).then_some(()));
        claimed.map(|()| Claim { of: self, hash: hash.to_string() })
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
