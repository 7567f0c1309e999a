//! `extents`: translation pages compressed to runs of consecutive logical and physical units.
//!
//! The idea of segments in LeaFTL (Sun et al., ASPLOS 2023) without approximate ones: a run takes the bytes of one tagged
//! entry, and a page never more than on flash.

use super::{Format, TAGGED_BYTES};
use crate::ftl::page::mapping::table::{Map, Where};
use crate::numbers::Lpn;
use std::ops::Range;

/// Runs of entries.
pub struct Extents;

impl Format for Extents {
    fn least(&self, _: u32) -> u32 {
        TAGGED_BYTES
    }

    fn bytes(&self, map: &Map, of: Range<Lpn>, page: u32) -> u32 {
        let mut runs = 0;
        let mut before = None;
        for lpn in of.start.until(of.end) {
            let at = map.get(lpn);
            let follows = match (before, at) {
                (Some(Where::Flash(last)), Where::Flash(ppu)) => ppu.0 == last.0 + 1,
                (Some(Where::Unmapped), Where::Unmapped) => true,
                _ => false,
            };
            runs += u32::from(!follows);
            before = Some(at);
        }
        (runs * TAGGED_BYTES).min(page)
    }

    /// A changed entry splits its run in three.
    fn growth(&self) -> u32 {
        2 * TAGGED_BYTES
    }
}
