//! `fifo`: first in, first out.

use super::{Order, Replacement};

/// FIFO policy.
pub struct Fifo;

impl Replacement for Fifo {
    #[inline]
    fn touch(&self, _: &mut Order, _: u32) {}

    #[inline]
    fn victim(&self, order: &mut Order) -> u32 {
        order.last()
    }
}
