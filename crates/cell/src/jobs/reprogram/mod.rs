//! Reprogramming.

pub mod block;
pub mod chip;
pub mod order;

use crate::histogram::{Histogram, whole};
use crate::states::PageType;
use interpulse_flash::reprogram::{Bit, Coding};

/// Errors of a page.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Page { pub layer: u32, pub word_line: u32, pub page: u8, pub dvo: u64, pub ovo: u64 }

/// Runs a part.
pub fn part(chip: &chip::Chip, height: u32, seed: u64, first: u32, layers: u32, count: usize, by_line: bool) -> (Vec<Page>, Histogram) {
    let mut total = Histogram::default();
    let mut pages = Vec::new();
    let states = if height == 0 { 0..8 } else { 4..8 };
    let mut part = block::Part::erased(chip, seed, first, layers, count, states);
    let steps = if height == 0 { order::conventional(layers, chip.word_lines) } else { order::reprogrammed(layers, chip.word_lines, height, seed, first, by_line) };
    part.program(&steps);
    let default = whole(&chip.cells.read.default);
    part.read(|layer, word_line, h| {
        let best = h.best_levels(&default);
        let mut push = |page, bit: &dyn Fn(u8) -> u8| {
            pages.push(Page { layer, word_line, page, dvo: h.errors(&default, bit), ovo: h.errors(&best, bit) });
        };
        if height == 0 {
            for (_, page) in PageType::ALL { push(page as u8, &|s| crate::states::bit(page, s)); }
        } else {
            for bit in Bit::ALL { push(bit as u8, &|s| Coding::LsbLsb.read(bit, s) as u8); }
        }
        for (v, row) in h.rows() { let _ = (v, row); }
    });
    let _ = &mut total;
    (pages, total)
}
