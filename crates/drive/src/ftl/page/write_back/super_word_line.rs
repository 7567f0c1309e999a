//! Super word line: pages gathered in the cache so that consecutive pages go to successive lanes.
//!
//! A one-shot program takes several pages of each plane. Filled with consecutive pages, one die holds all of a sequential
//! read. Here the pages that arrive form rounds of as many pages as `width` programs take. The first `width` pages of a
//! round are the first pages of these programs, the next `width` pages the second ones, and so on, each on a dirty list.
//! A program takes a page of each list on the lane that is ready next.

use crate::cache::Cache;
use crate::ftl::layout::Layout;

/// Rounds that the cache holds at least: one that arrives, one that is written back, one in flight.
const ROUNDS: u32 = 3;

/// Arrivals of the round and the dirty lists of its pages.
#[derive(Debug)]
pub(crate) struct SuperWordLine {
    /// Units of a page; each list gives so many to a program.
    page: u32,
    /// Pages of a program, one list each.
    lists: u32,
    /// Units that a list takes in a row: a page of each program of a round.
    row: u32,
    /// Units of a row that have arrived.
    arrived: u32,
    /// List of the next unit.
    list: u32,
}

impl SuperWordLine {
    /// For a cache of `slots` units. A round has a program for each lane, or as many as the cache holds [`ROUNDS`] rounds of.
    pub(crate) fn new(layout: &Layout, slots: u32) -> SuperWordLine {
        let (page, program) = (layout.units_per_page(), layout.units_per_program);
        let width = (slots / (ROUNDS * program)).clamp(1, layout.lanes);
        SuperWordLine { page, lists: Self::lists(layout), row: page * width, arrived: 0, list: 0 }
    }

    /// Dirty lists: pages of a program, those of all its planes.
    pub(crate) fn lists(layout: &Layout) -> u32 {
        layout.units_per_program / layout.units_per_page()
    }

    /// List of the next unit that arrives.
    pub(crate) fn list(&self) -> usize {
        self.list as usize
    }

    /// A unit has arrived on the list.
    pub(crate) fn arrived(&mut self) {
        self.arrived += 1;
        if self.arrived == self.row {
            self.arrived = 0;
            self.list = if self.list + 1 == self.lists { 0 } else { self.list + 1 };
        }
    }

    /// Lists and most units that a program takes of each, in order: a page of each, then what short lists leave over.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (lists, page) = (self.lists as usize, self.page);
        (0..lists).map(move |list| (list, page)).chain((0..lists).map(|list| (list, u32::MAX)))
    }

    /// Whether a program is worth starting: a page on each list, or two rounds in all, where overwrites and trims in the
    /// cache have emptied a list.
    pub(crate) fn is_worth_starting(&self, cache: &Cache) -> bool {
        let whole = (0..self.lists as usize).all(|list| cache.dirty(list) >= self.page);
        whole || cache.dirty_total() >= 2 * self.row * self.lists
    }

    /// Whether a flush wants data of any list.
    pub(crate) fn flush_wants(&self, cache: &Cache) -> bool {
        (0..self.lists as usize).any(|list| cache.flush_wants(list))
    }
}
