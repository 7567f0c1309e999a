//! The stripe cache: a limited number of heads, each one row with the pages of all drives, the least recently used given
//! up first.

use interpulse_engine::RequestId;
use interpulse_engine::random::mix;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Rows are numbers: one multiplication mixes them well enough.
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

/// A write of the host to one page.
#[derive(Clone, Copy, Debug)]
pub struct PageWrite {
    /// The host request.
    pub job: RequestId,
    /// The page's drive.
    pub drive: u32,
    /// The 512-byte sectors written, one bit each.
    pub sectors: u8,
    /// Its version; zero if the row is not followed.
    pub version: u32,
}

/// A read of the host of one page.
#[derive(Clone, Copy, Debug)]
pub struct PageRead {
    /// The host request.
    pub job: RequestId,
    /// The page's drive.
    pub drive: u32,
    /// The version it must return at least.
    pub least: u32,
}

/// One row in the cache.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The row.
    pub row: u32,
    /// Pages that are here, one bit per drive.
    pub uptodate: u32,
    /// Pages on their way from or to a drive.
    pub busy: u32,
    /// Sectors with pending writes, of each page.
    pub sectors: Box<[u8]>,
    /// Writes that wait to be taken up.
    pub writes: Vec<PageWrite>,
    /// Writes being written.
    pub writing: Vec<PageWrite>,
    /// Reads that wait for their page.
    pub reads: Vec<PageRead>,
    /// Writes of sectors that others before them have not been taken up for.
    pub waiters: VecDeque<PageWrite>,
    /// It may read what its writes need.
    pub prereading: bool,
    /// It is in the list of those that may not yet.
    pub delayed: bool,
    /// Rebuild or scrub wants the row.
    pub sync: bool,
    /// The page of the rebuilt drive is being written.
    pub sync_writing: bool,
    /// Pages that their drives could not correct and that have not been made up, one bit per drive.
    pub bad: u32,
    /// Pages that reads do without where the others of the row give them: their drives collect garbage. One bit per drive.
    pub avoided: u32,
    /// Its pages are read in commands of their own, since one of several has failed.
    pub alone: bool,
    /// Pages that nothing could make up: they are used with their errors, and not for longer than they are needed now.
    pub spoiled: u32,
    /// A page that was made up is being written back.
    pub repairing: bool,
    idle: bool,
    before: u32,
    after: u32,
}

impl Head {
    /// The drive could not correct its page. One that is here, or on its way again, is left alone.
    pub fn mark_bad(&mut self, drive: u32) {
        self.bad |= 1 << drive & !self.uptodate;
    }

    /// The drive is collecting garbage. A page that is here, or on its way, is left alone.
    pub fn avoid(&mut self, drive: u32) {
        self.avoided |= 1 << drive & !self.uptodate;
    }

    /// Whether pages can be avoided: nothing but reads wants the row, and no more than one page of it is missing.
    pub fn may_avoid(&self) -> bool {
        self.writes.is_empty() && !self.sync && self.bad == 0 && self.avoided.count_ones() <= 1
    }

    /// Whether pages of it are being written.
    pub fn is_written(&self) -> bool {
        !self.writing.is_empty() || self.sync_writing || self.repairing
    }
}

const NONE: u32 = u32::MAX;

/// The heads.
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
    /// At most `most` heads for rows of `drives` pages.
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

    /// Heads there can be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether a row that is not here could have a head now.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.heads.len() < self.most || self.idle > 0
    }

    /// Whether so many rows that are not here could have heads now.
    pub fn has_room_for(&self, rows: usize) -> bool {
        self.most - self.heads.len() + self.idle >= rows
    }

    /// Heads in use.
    pub fn active(&self) -> usize {
        self.heads.len() - self.idle
    }

    /// The head `h`.
    #[inline]
    pub fn head(&self, h: u32) -> &Head {
        &self.heads[h as usize]
    }

    /// The head `h`, to change.
    #[inline]
    pub fn head_mut(&mut self, h: u32) -> &mut Head {
        &mut self.heads[h as usize]
    }

    /// A head for `row`, in use from now on, and the row that was given up for it; `None` if all others are in use.
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

    /// Nothing wants `h` any more: its pages stay until another row needs it.
    pub fn release(&mut self, h: u32) {
        let newest = self.newest;
        let head = &mut self.heads[h as usize];
        debug_assert!(!head.idle && head.busy == 0 && head.writes.is_empty() && head.reads.is_empty());
        head.uptodate &= !std::mem::take(&mut head.spoiled);
        (head.bad, head.avoided, head.alone) = (0, 0, false);
        (head.idle, head.before, head.after) = (true, newest, NONE);
        match newest {
            NONE => self.oldest = h,
            other => self.heads[other as usize].after = h,
        }
        self.newest = h;
        self.idle += 1;
    }

    /// All heads there are.
    pub fn all(&self) -> impl Iterator<Item = &Head> {
        self.heads.iter()
    }

    /// All heads there are, to change.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Head> {
        self.heads.iter_mut()
    }

    /// Whether `row` has a head in use.
    pub fn uses(&self, row: u32) -> bool {
        self.by_row.get(&row).is_some_and(|&h| !self.heads[h as usize].idle)
    }

    /// Whether `h` is not in use.
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
    fn the_least_recently_used_row_is_given_up_first() {
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
