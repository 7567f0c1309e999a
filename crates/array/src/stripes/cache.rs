//! Stripe cache: a limited number of stripe heads, each with the pages of one row; LRU replacement.

use interpulse_engine::RequestId;
use interpulse_engine::random::mix;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Row hasher: one multiplication mixes row numbers well enough.
#[derive(Default)]
struct RowHasher(u64);

impl Hasher for RowHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.0 = mix(self.0 ^ u64::from(b)));
    }
    fn write_u32(&mut self, row: u32) {
        self.0 = mix(u64::from(row));
    }
}

/// Host write to one page.
#[derive(Clone, Copy, Debug)]
pub struct PageWrite {
    pub job: RequestId,
    pub drive: u32,
    /// Written 512-byte sectors (bit mask).
    pub sectors: u8,
    /// Version; zero if the row is not sampled.
    pub version: u32,
}

/// Host read of one page.
#[derive(Clone, Copy, Debug)]
pub struct PageRead {
    pub job: RequestId,
    pub drive: u32,
    /// Oldest version that it may return.
    pub least: u32,
}

/// Stripe head: one row in the cache. Masks have one bit per drive.
#[derive(Clone, Debug, Default)]
pub struct Head {
    pub row: u32,
    /// Pages in the cache.
    pub uptodate: u32,
    /// Pages in flight from or to a drive.
    pub busy: u32,
    /// Sectors with pending writes, by page.
    pub sectors: Box<[u8]>,
    pub writes: Vec<PageWrite>,
    pub writing: Vec<PageWrite>,
    pub reads: Vec<PageRead>,
    /// Writes that overlap pending writes.
    pub waiters: VecDeque<PageWrite>,
    /// It may preread.
    pub prereading: bool,
    /// It is in the list of delayed heads.
    pub delayed: bool,
    /// Background sync needs the row.
    pub sync: bool,
    /// A rebuilt page is being written.
    pub sync_writing: bool,
    /// Uncorrectable pages that have not been reconstructed.
    pub bad: u32,
    /// Pages whose reads failed fast: they are reconstructed if possible.
    pub avoided: u32,
    /// An avoided page is that of a hedged read.
    pub hedged: bool,
    /// Its pages are read by separate commands, since a merged one has failed.
    pub alone: bool,
    /// Unrecoverable pages, used with their errors and dropped at release.
    pub spoiled: u32,
    /// A reconstructed page is being written back.
    pub repairing: bool,
    idle: bool,
    before: u32,
    after: u32,
}

impl Head {
    /// Marks a page as uncorrectable unless it is cached or in flight.
    pub fn mark_bad(&mut self, drive: u32) {
        self.bad |= 1 << drive & !self.uptodate;
    }

    /// Avoids a drive on which a read failed fast, unless its page is cached or in flight.
    pub fn avoid(&mut self, drive: u32) {
        self.avoided |= 1 << drive & !self.uptodate;
    }

    /// Whether pages can be avoided: only reads need the row, and at most one page is missing.
    pub fn may_avoid(&self) -> bool {
        self.writes.is_empty() && !self.sync && self.bad == 0 && self.avoided.count_ones() <= 1
    }

    pub fn is_written(&self) -> bool {
        !self.writing.is_empty() || self.sync_writing || self.repairing
    }
}

const NONE: u32 = u32::MAX;

pub struct StripeCache {
    heads: Vec<Head>,
    most: usize,
    drives: usize,
    by_row: HashMap<u32, u32, BuildHasherDefault<RowHasher>>,
    oldest: u32,
    newest: u32,
    idle: usize,
}

impl StripeCache {
    /// Creates a cache of at most `most` heads for rows of `drives` pages.
    pub fn new(most: u32, drives: u32) -> StripeCache {
        StripeCache {
            heads: Vec::new(),
            most: most as usize,
            drives: drives as usize,
            by_row: HashMap::default(),
            oldest: NONE,
            newest: NONE,
            idle: 0,
        }
    }

    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether an uncached row can get a head.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.heads.len() < self.most || self.idle > 0
    }

    /// Whether `rows` uncached rows can get heads.
    pub fn has_room_for(&self, rows: usize) -> bool {
        self.most - self.heads.len() + self.idle >= rows
    }

    pub fn active(&self) -> usize {
        self.heads.len() - self.idle
    }

    #[inline]
    pub fn head(&self, h: u32) -> &Head {
        &self.heads[h as usize]
    }

    #[inline]
    pub fn head_mut(&mut self, h: u32) -> &mut Head {
        &mut self.heads[h as usize]
    }

    /// Acquires a head for `row`; returns it and the evicted row. `None` if all heads are in use.
    pub fn take(&mut self, row: u32) -> Option<(u32, Option<u32>)> {
        if let Some(&h) = self.by_row.get(&row) {
            if self.heads[h as usize].idle {
                self.unlink(h);
            }
            return Some((h, None));
        }
        let (h, given_up) = if self.heads.len() < self.most {
            self.heads.push(Head { sectors: vec![0; self.drives].into(), ..Head::default() });
            (self.heads.len() as u32 - 1, None)
        } else if self.oldest != NONE {
            let h = self.oldest;
            self.unlink(h);
            let old = self.heads[h as usize].row;
            self.by_row.remove(&old);
            (h, Some(old))
        } else {
            return None;
        };
        let head = &mut self.heads[h as usize];
        (head.row, head.uptodate) = (row, 0);
        self.by_row.insert(row, h);
        Some((h, given_up))
    }

    /// Releases `h`; its pages stay cached until eviction.
    pub fn release(&mut self, h: u32) {
        let newest = self.newest;
        let head = &mut self.heads[h as usize];
        debug_assert!(!head.idle && head.busy == 0 && head.writes.is_empty() && head.reads.is_empty());
        head.uptodate &= !std::mem::take(&mut head.spoiled);
        (head.bad, head.avoided, head.alone, head.hedged) = (0, 0, false, false);
        (head.idle, head.before, head.after) = (true, newest, NONE);
        match newest {
            NONE => self.oldest = h,
            other => self.heads[other as usize].after = h,
        }
        self.newest = h;
        self.idle += 1;
    }

    pub fn all(&self) -> impl Iterator<Item = &Head> {
        self.heads.iter()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Head> {
        self.heads.iter_mut()
    }

    /// Head of `row` that is in use.
    pub fn head_of(&self, row: u32) -> Option<&Head> {
        self.by_row.get(&row).map(|&h| &self.heads[h as usize]).filter(|head| !head.idle)
    }

    pub fn uses(&self, row: u32) -> bool {
        self.by_row.get(&row).is_some_and(|&h| !self.heads[h as usize].idle)
    }

    #[inline]
    pub fn is_idle(&self, h: u32) -> bool {
        self.heads[h as usize].idle
    }

    fn unlink(&mut self, h: u32) {
        let head = &mut self.heads[h as usize];
        head.idle = false;
        let (before, after) = (head.before, head.after);
        match before {
            NONE => self.oldest = after,
            other => self.heads[other as usize].after = after,
        }
        match after {
            NONE => self.newest = before,
            other => self.heads[other as usize].before = before,
        }
        self.idle -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_row_is_evicted_first() {
        let mut cache = StripeCache::new(3, 4);
        for row in [10, 11, 12] {
            let (h, given_up) = cache.take(row).expect("there is room");
            assert_eq!(given_up, None);
            cache.head_mut(h).uptodate = 0b1111;
        }
        assert!(!cache.has_room() && cache.take(13).is_none(), "all are in use");
        [0, 1, 2].into_iter().for_each(|h| cache.release(h));
        assert_eq!(cache.take(11), Some((1, None)));
        assert_eq!(cache.head(1).uptodate, 0b1111, "its pages are still here");
        cache.release(1);
        assert_eq!(cache.take(20), Some((0, Some(10))));
        assert_eq!(cache.head(0).uptodate, 0, "another row's pages are not");
        assert_eq!(cache.take(21), Some((2, Some(12))));
        assert_eq!(cache.take(22), Some((1, Some(11))));
        assert_eq!((cache.take(23), cache.active()), (None, 3));
    }
}
