//! Memory reservations: a run starts only if the reservations of running ones leave enough memory.

use super::condition::Condition;
use super::free_memory::FreeMemory;
use crate::control::lock;
use std::collections::{BTreeMap, BTreeSet};

/// Reservations of all runs.
#[derive(Default)]
pub struct MemoryReservations(Condition<Now>);

#[derive(Default)]
struct Now {
    /// Reserved bytes by run.
    made: BTreeMap<u64, u64>,
    /// Waiting runs as (rank, number).
    pending: BTreeSet<(u64, u64)>,
    /// Number of the next run.
    next: u64,
}

impl MemoryReservations {
    /// Waits until no other reservation exists, or all reservations and `bytes` fit into free memory; `None` once
    /// `cancelled`. Lower ranks go first.
    ///
    /// Memory that is reserved and already allocated counts twice, which never over-commits.
    pub fn reserve(
        &self,
        rank: u64,
        bytes: u64,
        free: &dyn Fn() -> Option<FreeMemory>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<MemoryReservation<'_>> {
        let mut now = lock(&self.0.now);
        let number = now.next;
        now.next += 1;
        now.pending.insert((rank, number));
        let granted = self.0.wait(now, cancelled, |now| {
            let fits = || {
                let reserved: u64 = now.made.values().sum();
                now.made.is_empty() || free().is_none_or(|free| reserved.saturating_add(bytes) <= free.bytes)
            };
            (now.pending.first() == Some(&(rank, number)) && fits()).then_some(())
        });
        self.0.change(|now| {
            now.pending.remove(&(rank, number));
            granted.map(|()| now.made.insert(number, bytes));
        });
        granted.map(|()| MemoryReservation { of: self, number })
    }

    /// Number of waiting runs.
    #[cfg(test)]
    pub fn pending(&self) -> usize {
        lock(&self.0.now).pending.len()
    }
}

/// Reservation of a run; dropping it releases the memory.
pub struct MemoryReservation<'a> {
    of: &'a MemoryReservations,
    number: u64,
}

impl MemoryReservation<'_> {
    /// Reduces the reservation to `bytes`.
    pub fn shrink(&self, bytes: u64) {
        self.of.0.change(|now| now.made.insert(self.number, bytes));
    }
}

impl Drop for MemoryReservation<'_> {
    fn drop(&mut self) {
        self.of.0.change(|now| now.made.remove(&self.number));
    }
}
