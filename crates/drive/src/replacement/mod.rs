//! Replacement policies of the mapping cache and the read cache: one file and one registry line for each, with its own keys if
//! it has any.

pub(crate) mod order;

use interpulse_settings::registry;
use order::Order;

pub use segmented_lru::SegmentedLru;

registry! {
    $ /// What the mapping cache evicts.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum MapReplacement, each_replacement {
        "lru" => lru::Lru: "what was looked up longest ago";
        "fifo" => fifo::Fifo: "what was read longest ago";
        "clock" => clock::Clock: "what was read longest ago and not looked up since the last pass (second chance)";
        "segmented-lru" => segmented_lru::SegmentedLru(it): "what was looked up once before what was looked up again";
    }
}

/// Rule over the order of slots.
trait Replacement {
    /// Notes a look-up of a slot.
    fn touch(&self, order: &mut Order, slot: u32);

    /// Chooses the slot to evict, without removing it; some slot is in use.
    fn victim(&self, order: &mut Order) -> u32;
}

impl MapReplacement {
    /// Notes a look-up of `slot`.
    #[inline]
    pub(crate) fn touch(&self, order: &mut Order, slot: u32) {
        each_replacement!(self, it => it.touch(order, slot));
    }

    /// The slot to evict next.
    #[inline]
    pub(crate) fn victim(&self, order: &mut Order) -> u32 {
        each_replacement!(self, it => it.victim(order))
    }
}
