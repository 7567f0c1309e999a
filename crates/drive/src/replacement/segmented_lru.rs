//! `segmented-lru`: a probationary and a protected list (Karedla, Love and Wherry 1994).

use super::{Order, Replacement};
use interpulse_settings::{default, keys};

keys! {
    /// Segmented LRU policy.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SegmentedLru, pub(crate) fn read(s) {
        /// share of the cached objects that the protected list of segmented-lru holds at most
        pub protected: f64 = ["map-cache-protected"] fraction(default(0.8).positive().at_most(0.95)),
    }
}

impl Replacement for SegmentedLru {
    #[inline]
    fn touch(&self, order: &mut Order, slot: u32) {
        if order.is_marked(slot) {
            order.move_to_second(slot);
            return;
        }
        order.mark(slot, true);
        order.move_to_second(slot);
        if order.in_second() > ((f64::from(order.used()) * self.protected) as u32).max(1) {
            let demoted = order.last_of_second();
            order.mark(demoted, false);
            order.move_to_first(demoted);
        }
    }

    #[inline]
    fn victim(&self, order: &mut Order) -> u32 {
        if order.used() > order.in_second() { order.last() } else { order.last_of_second() }
    }
}
