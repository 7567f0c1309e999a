//! `none`: host data is not separated.

use super::Separation;
use super::filter::Hotness;
use crate::ftl::layout::Layout;

/// Not at all.
pub struct None;

impl Separation for None {
    fn levels(&self) -> u32 {
        0
    }

    fn filter(&self, _: &Layout) -> Option<Hotness> {
        Option::None
    }
}
