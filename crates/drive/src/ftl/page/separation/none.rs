//! `none`: host data is not separated.

use crate::ftl::page::separation::Separation;
use crate::ftl::page::separation::filter::Hotness;
use crate::ftl::layout::Layout;

/// No separation.
pub struct None;

impl Separation for None {
    fn levels(&self) -> u32 {
        0
    }

    fn filter(&self, _: &Layout) -> Option<Hotness> {
        Option::None
    }
}
