//! `pages`: translation pages as they are on flash.

use super::Format;
use crate::ftl::page::mapping::table::Map;
use crate::numbers::Lpn;
use std::ops::Range;

/// Whole translation pages.
pub struct Pages;

impl Format for Pages {
    fn least(&self, page: u32) -> u32 {
        page
    }

    fn bytes(&self, _: &Map, _: Range<Lpn>, page: u32) -> u32 {
        page
    }
}
