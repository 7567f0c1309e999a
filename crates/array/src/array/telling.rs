//! What an array has to tell its host, in order. It is heard out before anything else happens, and mostly it is one thing: a
//! list that begins anew is less work than a ring.

use interpulse_engine::{News, RequestId};

/// What the host has not been told, and how far it has been.
#[derive(Default)]
pub(super) struct Telling {
    all: Vec<News<RequestId>>,
    told: usize,
}

impl Telling {
    /// Adds one behind all others.
    #[inline(always)]
    pub(super) fn push(&mut self, what: News<RequestId>) {
        self.all.push(what);
    }

    /// The first one.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<News<RequestId>> {
        self.all.get(self.told).copied()
    }

    /// Takes the first one.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<News<RequestId>> {
        let first = self.front()?;
        self.told += 1;
        if self.told == self.all.len() {
            self.all.clear();
            self.told = 0;
        }
        Some(first)
    }
}
