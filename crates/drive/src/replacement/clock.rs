//! `clock`: second chance (Corbato 1968), as a list whose end is the hand.

use super::{Order, Replacement};

/// CLOCK policy.
pub struct Clock;

impl Replacement for Clock {
    #[inline]
    fn touch(&self, order: &mut Order, slot: u32) {
        order.mark(slot, true);
    }

    #[inline]
    fn victim(&self, order: &mut Order) -> u32 {
        loop {
            let slot = order.last();
            if !order.is_marked(slot) {
                return slot;
            }
            order.mark(slot, false);
            order.move_to_first(slot);
        }
    }
}
