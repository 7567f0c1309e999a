//! `entries`: single entries, as in the cached mapping table of DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009).

use super::{Format, TAGGED_BYTES};
use crate::ftl::page::mapping::table::Map;
use crate::numbers::Lpn;
use std::ops::Range;

/// Single entries.
pub struct Entries;

impl Format for Entries {
    fn holds_entries(&self) -> bool {
        true
    }

    fn least(&self, _: u32) -> u32 {
        TAGGED_BYTES
    }

    fn bytes(&self, _: &Map, _: Range<Lpn>, _: u32) -> u32 {
        TAGGED_BYTES
    }
}
