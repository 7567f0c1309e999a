//! Formats of cached map entries: one file and one registry line for each.

use crate::ftl::page::mapping::table::Map;
use crate::numbers::Lpn;
use interpulse_settings::registry;
use std::ops::Range;

/// Bytes of a map entry on flash.
pub const ENTRY_BYTES: u32 = 4;
/// Bytes of a map entry in memory with the number that finds it: logical and physical unit.
pub const TAGGED_BYTES: u32 = 8;

registry! {
    $ /// What the mapping cache holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MapFormat, each_format {
        "pages" => pages::Pages: "whole translation pages";
        "entries" => entries::Entries: "single entries, 8 bytes each (CMT of DFTL)";
        "extents" => extents::Extents: "whole translation pages, 8 bytes for each run of consecutive entries";
    }
}

/// Size of cached objects. An object is a translation page or an entry.
trait Format {
    /// Whether an object is a single entry.
    fn holds_entries(&self) -> bool {
        false
    }

    /// Fewest bytes of an object whose translation page has `page` bytes.
    fn least(&self, page: u32) -> u32;

    /// Bytes of an object now, with the map entries `of` its translation page.
    fn bytes(&self, map: &Map, of: Range<Lpn>, page: u32) -> u32;

    /// Bytes that a changed entry adds until the object is measured again.
    fn growth(&self) -> u32 {
        0
    }
}

impl MapFormat {
    /// Whether an object is a single entry rather than a translation page.
    pub fn holds_entries(&self) -> bool {
        each_format!(self, it => it.holds_entries())
    }

    /// Fewest bytes of an object whose translation page has `page` bytes.
    pub fn least(&self, page: u32) -> u32 {
        each_format!(self, it => it.least(page))
    }

    /// Bytes of an object with the map entries `of` its translation page.
    pub(super) fn bytes(&self, map: &Map, of: Range<Lpn>, page: u32) -> u32 {
        each_format!(self, it => it.bytes(map, of, page))
    }

    /// Bytes that a changed entry adds until the object is measured again.
    #[inline]
    pub(super) fn growth(&self) -> u32 {
        each_format!(self, it => it.growth())
    }
}
