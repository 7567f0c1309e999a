//! `lru`: least recently used.

use super::{Order, Replacement};

/// LRU policy.
pub struct Lru;

impl Replacement for Lru {
    #[inline]
    fn touch(&self, order: &mut Order, slot: u32) {
        order.move_to_first(slot);
    }

    #[inline]
    fn victim(&self, order: &mut Order) -> u32 {
        order.last()
    }
}
