//! `streams`: the Streams Directive (NVMe Base Specification 1.3, Section 9.3).
//!
//! Stream k is placement handle k, initially isolated: the directive says nothing about data that the drive relocates. Writes
//! without a stream belong to handle 0. A stream that a write names first is opened by it, and stays open.

use crate::ftl::page::placement::{MOST_HANDLES, Placement};
use interpulse_settings::{default, keys};

keys! {
    /// Streams Directive.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Streams, pub(crate) fn read(s) {
        /// stream identifiers that a flow may name as its placement-handle, counted from 1
        pub streams: u32 = u32(default(8).within(1..=MOST_HANDLES - 1)),
    }
}

impl Placement for Streams {
    fn persistently_isolated(&self) -> Vec<bool> {
        vec![false; self.streams as usize + 1]
    }
}
