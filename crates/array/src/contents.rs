//! What the pages hold: an independent record that finds lost data and wrong parity.
//!
//! For a sample of the rows (`audit.sample`) every page has a value, on its drive and in the stripe cache. A write gives
//! its page a value made of the unit's address and version; parity is computed from values as the array computes it, old
//! value and all, so a plan that reads too little, a page taken from the cache that is not there or a page written to
//! the wrong drive leaves wrong values behind. Versions come from the host's writes alone.

use crate::layout::Layout;
use crate::plan::Way;
use interpulse_drive::config::Level;
use interpulse_engine::random::mix;
use std::collections::HashMap;

/// What a page holds that nobody has written or read yet: equal to no value but by chance of one in 2^64.
const NOTHING: u64 = 0x6e6f_7468_696e_6721;

/// One row: an entry per drive in each.
#[derive(Clone)]
struct Row {
    on_drive: Box<[u64]>,
    cached: Box<[u64]>,
    /// Versions given to writes, and those of completed ones.
    issued: Box<[u32]>,
    acknowledged: Box<[u32]>,
    /// Versions that have been taken up for writing.
    taken: Box<[u32]>,
    /// What a version up to the first is from the last power cut on: which of them the drive had is not for the host to
    /// say.
    settled: Box<[(u32, u64)]>,
    /// Pages that were being written at the last power cut, one bit per drive.
    touched: u32,
    /// What the others give for the page of a lost drive, if that is not what it held: good for versions up to the first.
    hole: Option<(u32, u64)>,
}

impl Row {
    /// The value that version `version` of the page of `drive` has.
    fn value(&self, layout: &Layout, row: u32, drive: u32, version: u32) -> Option<u64> {
        let unit = layout.unit_at(drive, row)?;
        let (upto, settled) = self.settled[drive as usize];
        Some(if version <= upto { settled } else { value(unit, version) })
    }
}

/// The record. The map is only looked into by key, but for the audit, which sorts.
pub struct Contents {
    every: u64,
    layout: Layout,
    rows: HashMap<u32, Row>,
    lost: Option<u32>,
    /// Pages returned to the host and checked.
    pub checked: u64,
}

/// What the audit of the record looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Data pages that hold the newest version, on their drive or by parity.
    pub data_pages: u64,
    /// Parity pages equal to their recomputation from the newest versions.
    pub parity_pages: u64,
    /// Pages of the rebuilt drive equal to those of the lost one.
    pub rebuilt_pages: u64,
}

fn value(unit: u64, version: u32) -> u64 {
    mix(mix(unit + 1) ^ u64::from(version))
}

impl Contents {
    /// Follows one in `every` rows (1 = all of them).
    pub fn new(layout: Layout, every: u32) -> Contents {
        Contents { every: u64::from(every), layout, rows: HashMap::new(), lost: None, checked: 0 }
    }

    /// Whether `row` is followed.
    #[inline]
    pub fn follows(&self, row: u32) -> bool {
        (u128::from(mix(u64::from(row) + 1)) * u128::from(self.every)) >> 64 == 0
    }

    fn row(&mut self, row: u32) -> &mut Row {
        let (layout, lost) = (self.layout, self.lost);
        self.rows.entry(row).or_insert_with(|| {
            let n = layout.drives as usize;
            let first = |d: u32| layout.unit_at(d, row).map(|unit| value(unit, 0));
            let parity = (0..layout.drives).filter_map(first).fold(0, |sum, v| sum ^ v);
            let held = |d| if lost == Some(d) { NOTHING } else { first(d).unwrap_or(parity) };
            Row {
                on_drive: (0..layout.drives).map(held).collect(),
                cached: vec![NOTHING; n].into(),
                issued: vec![0; n].into(),
                acknowledged: vec![0; n].into(),
                taken: vec![0; n].into(),
                settled: (0..layout.drives).map(|d| (0, first(d).unwrap_or(0))).collect(),
                touched: 0,
                hole: None,
            }
        })
    }

    /// The host writes the page of `drive`; returns the version it gets.
    #[cold]
    pub fn issue(&mut self, row: u32, drive: u32) -> u32 {
        let issued = &mut self.row(row).issued[drive as usize];
        *issued += 1;
        *issued
    }

    /// A write of the host is complete.
    #[cold]
    pub fn acknowledge(&mut self, row: u32, drive: u32, version: u32) {
        let newest = &mut self.row(row).acknowledged[drive as usize];
        *newest = version.max(*newest);
    }

    /// The version that a read submitted now must return at least.
    #[cold]
    pub fn acknowledged(&mut self, row: u32, drive: u32) -> u32 {
        self.row(row).acknowledged[drive as usize]
    }

    /// A page is read into the stripe cache.
    #[cold]
    pub fn fetch(&mut self, row: u32, drive: u32) {
        let of = self.row(row);
        of.cached[drive as usize] = of.on_drive[drive as usize];
    }

    /// The page read into the stripe cache could not be corrected.
    #[cold]
    pub fn forget(&mut self, row: u32, drive: u32) {
        self.row(row).cached[drive as usize] = NOTHING;
    }

    /// The page of `drive` is computed from all others.
    #[cold]
    pub fn compute(&mut self, row: u32, drive: u32) {
        let of = self.row(row);
        let all = of.cached.iter().fold(0, |sum, v| sum ^ v);
        of.cached[drive as usize] ^= all;
    }

    /// New versions enter the stripe cache and the parity follows in the way chosen.
    #[cold]
    pub fn drain(&mut self, row: u32, way: Way, writes: impl Iterator<Item = (u32, u32)>) {
        let layout = self.layout;
        let parity = layout.parity(row) as usize;
        let of = self.row(row);
        for (drive, version) in writes {
            let unit = layout.unit_at(drive, row).expect("the host writes data");
            let new = value(unit, version);
            if way == Way::ReadModifyWrite {
                of.cached[parity] ^= of.cached[drive as usize] ^ new;
            }
            of.cached[drive as usize] = new;
            of.taken[drive as usize] = version;
        }
        if way != Way::ReadModifyWrite {
            let all = of.cached.iter().fold(0, |sum, v| sum ^ v);
            of.cached[parity] ^= all;
        }
    }

    /// A page of the stripe cache is on its drive.
    #[cold]
    pub fn store(&mut self, row: u32, drive: u32) {
        let of = self.row(row);
        of.on_drive[drive as usize] = of.cached[drive as usize];
    }

    /// The stripe cache gives the row up.
    #[cold]
    pub fn evict(&mut self, row: u32) {
        self.row(row).cached.fill(NOTHING);
    }

    /// The host writes past the stripe cache: to one drive, or to all mirrors. A drive takes writes in the order of
    /// their submission, so this is said when they are submitted.
    #[cold]
    pub fn write_through(&mut self, row: u32, drive: u32, version: u32) {
        let layout = self.layout;
        let unit = layout.unit_at(drive, row).expect("the host writes data");
        let of = self.row(row);
        match layout.level {
            Level::Raid1 => of.on_drive.fill(value(unit, version)),
            _ => of.on_drive[drive as usize] = value(unit, version),
        }
    }

    /// The host is given the page of `drive` as `from` holds it.
    #[cold]
    pub fn read_through(&mut self, row: u32, drive: u32, from: u32) {
        let held = self.row(row).on_drive[from as usize];
        let least = self.acknowledged(row, drive);
        self.check(row, drive, least, held);
    }

    /// The host is given the page of `drive` from the stripe cache.
    #[cold]
    pub fn read_cached(&mut self, row: u32, drive: u32, least: u32) {
        let held = self.row(row).cached[drive as usize];
        self.check(row, drive, least, held);
    }

    fn check(&mut self, row: u32, drive: u32, least: u32, held: u64) {
        let (layout, lost) = (self.layout, self.lost);
        let unit = layout.unit_at(drive, row).expect("the host reads data");
        let of = self.row(row);
        let newest = of.issued[drive as usize];
        let of_hole =
            lost == Some(drive) && of.hole.is_some_and(|(upto, value)| least <= upto && value == held);
        assert!(
            of_hole || (least..=newest).any(|version| of.value(&layout, row, drive, version) == Some(held)),
            "a read of unit {unit} of the array (row {row}, drive {drive}) returned none of its versions {least} to {newest}"
        );
        self.checked += 1;
    }

    /// Whether the pages of the stripe cache add up to nothing, as data and parity must.
    #[cold]
    pub fn cached_parity_holds(&mut self, row: u32) -> bool {
        self.row(row).cached.iter().fold(0, |sum, v| sum ^ v) == 0
    }

    /// `drive` is lost: an empty one, if any, takes its place. `unsure` says of a row whether a power cut may have left it
    /// with a parity that does not fit, and whether it is in use. Returns the pages of rows not in use that nobody was
    /// writing at the cut, and that the others do not give.
    pub fn lose(&mut self, drive: u32, unsure: impl Fn(u32) -> (bool, bool)) -> u64 {
        self.lost = Some(drive);
        let mut holes = 0;
        for (&row, of) in &mut self.rows {
            let others = of.on_drive.iter().fold(0, |sum, v| sum ^ v) ^ of.on_drive[drive as usize];
            let (unsure, in_use) = unsure(row);
            if unsure && others != of.on_drive[drive as usize] && self.layout.unit_at(drive, row).is_some() {
                of.hole = Some((of.issued[drive as usize], others));
                holes += u64::from(!in_use && of.touched >> drive & 1 == 0);
            }
            of.on_drive[drive as usize] = NOTHING;
        }
        holes
    }

    /// Power is cut: every page is what its drive has, and that must be no older than what was complete.
    pub fn cut(&mut self) {
        let layout = self.layout;
        for (&row, of) in &mut self.rows {
            of.touched = 0;
            for d in (0..layout.drives).filter(|&d| layout.unit_at(d, row).is_some()) {
                let i = d as usize;
                let held = of.on_drive[i];
                let known = (of.acknowledged[i]..=of.issued[i])
                    .any(|version| of.value(&layout, row, d, version) == Some(held));
                assert!(known, "a power cut has lost a complete write of row {row}, drive {d}");
                of.touched |= u32::from(of.acknowledged[i] < of.issued[i]) << d;
                of.settled[i] = (of.issued[i], held);
                (of.acknowledged[i], of.taken[i]) = (of.issued[i], of.issued[i]);
            }
            of.cached.fill(NOTHING);
        }
    }

    /// The parity of a row without the pages that change, as the array computes it from what it has read for the way
    /// chosen; to be asked before [`Contents::drain`]. Panics unless it is what the host's writes alone make it.
    #[cold]
    pub fn partial_parity(&mut self, row: u32, way: Way, changes: u32) -> u64 {
        let (layout, lost) = (self.layout, self.lost);
        let parity = layout.parity(row);
        let of = self.row(row);
        let sum = |mask: u32, of: &[u64]| {
            (0..).zip(of).filter(|(d, _)| mask >> d & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
        };
        let rest = ((1u64 << layout.drives) - 1) as u32 & !(changes | 1 << parity);
        let computed = match way {
            Way::ReadModifyWrite => sum(changes | 1 << parity, &of.cached),
            _ => sum(rest, &of.cached),
        };
        let right = |d: u32| of.value(&layout, row, d, of.taken[d as usize]).unwrap_or(0);
        let expected = (0..layout.drives).filter(|d| rest >> d & 1 == 1).fold(0, |all, d| all ^ right(d));
        let through_hole = of.hole.zip(lost).is_some_and(|((upto, value), d)| {
            let stands = rest >> d & 1 == 1 && of.taken[d as usize] <= upto;
            stands && computed == expected ^ right(d) ^ value
        });
        assert!(
            computed == expected || through_hole,
            "the partial parity of row {row} is not what the host's writes make it"
        );
        computed
    }

    /// The parity of a row is made of its log and of the pages that were changing, as the drives have them.
    #[cold]
    pub fn mend(&mut self, row: u32, partial: u64, changes: u32) {
        let parity = self.layout.parity(row) as usize;
        let of = self.row(row);
        let changing = (0..).zip(&of.on_drive).filter(|(d, _)| changes >> d & 1 == 1);
        of.on_drive[parity] = changing.fold(partial, |sum, (_, v)| sum ^ v);
        let all = of.on_drive.iter().fold(0, |sum, v| sum ^ v);
        assert_eq!(all, 0, "the log has not made the parity of row {row} fit");
    }

    /// Checks, once nothing is outstanding, that every followed page is what the host's writes make it. `readable` says
    /// which drives hold a row. Err names what does not hold.
    pub fn audit(&self, readable: impl Fn(u32) -> u32) -> Result<Audited, String> {
        let mut seen = Audited::default();
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(row, _)| **row);
        for (&row, of) in rows {
            if of.issued != of.acknowledged {
                return Err(format!("row {row}: writes {:?}, completed {:?}", of.issued, of.acknowledged));
            }
            let mirrored = self.layout.level == Level::Raid1;
            let version = |d: u32| of.issued[if mirrored { 0 } else { d as usize }];
            let right = |d: u32| match (mirrored, of.value(&self.layout, row, d, version(d))) {
                (true, _) => self.layout.unit_at(d, row).map(|unit| value(unit, version(d))),
                (false, value) => value,
            };
            let all = of.on_drive.iter().fold(0, |sum, v| sum ^ v);
            let there = |d: u32| readable(row) >> d & 1 == 1;
            // What a lost drive held follows from all others.
            let found = |d: u32| of.on_drive[d as usize] ^ if there(d) { 0 } else { all };
            let through_hole = |d: u32| {
                let hole = of.hole.filter(|_| self.lost == Some(d));
                hole.filter(|&(upto, value)| of.issued[d as usize] <= upto && value == found(d)).map(|h| h.1)
            };
            let expected = |d: u32| right(d).map(|value| through_hole(d).unwrap_or(value));
            let parity = (0..self.layout.drives).filter_map(expected).fold(0, |sum, v| sum ^ v);
            for d in 0..self.layout.drives {
                let (there, found) = (there(d), found(d));
                let right = expected(d).unwrap_or(parity);
                if found != right {
                    let what = if expected(d).is_some() { "data" } else { "parity" };
                    let by = if there { "holds" } else { "is lost, and the others give" };
                    return Err(format!("row {row}: drive {d} {by} wrong {what}"));
                }
                if self.lost == Some(d) && there {
                    seen.rebuilt_pages += 1;
                }
                if expected(d).is_some() {
                    seen.data_pages += 1;
                } else {
                    seen.parity_pages += 1;
                }
            }
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAID5: Layout = Layout { level: Level::Raid5, drives: 4, chunk: 1, rows: 8 };

    fn written(way: Way, fetched: &[u32]) -> Result<Audited, String> {
        let mut c = Contents::new(RAID5, 1);
        let version = c.issue(0, 1);
        fetched.iter().for_each(|&d| c.fetch(0, d));
        c.drain(0, way, [(1, version)].into_iter());
        c.store(0, 1);
        c.store(0, 3);
        c.acknowledge(0, 1, version);
        c.audit(|_| 0b1111)
    }

    #[test]
    fn both_ways_leave_the_same_parity() {
        let fine = Ok(Audited { data_pages: 3, parity_pages: 1, rebuilt_pages: 0 });
        assert_eq!(written(Way::ReadModifyWrite, &[1, 3]), fine);
        assert_eq!(written(Way::ReconstructWrite, &[0, 2]), fine);
    }

    #[test]
    fn a_page_that_was_not_read_makes_wrong_parity() {
        let wrong = Err("row 0: drive 3 holds wrong parity".to_string());
        assert_eq!(written(Way::ReadModifyWrite, &[1]), wrong);
        assert_eq!(written(Way::ReconstructWrite, &[0]), wrong);
    }

    #[test]
    fn a_lost_drive_is_what_the_others_give_and_its_rebuild_is_compared() {
        let mut c = Contents::new(RAID5, 1);
        c.lose(2, |_| (false, false));
        [0, 1, 3].into_iter().for_each(|d| c.fetch(0, d));
        assert_eq!(c.audit(|_| 0b1011).map(|seen| seen.rebuilt_pages), Ok(0));
        assert_eq!(c.audit(|_| 0b1111), Err("row 0: drive 2 holds wrong data".to_string()));
        c.compute(0, 2);
        c.read_cached(0, 2, 0);
        c.store(0, 2);
        assert_eq!(c.audit(|_| 0b1111).map(|seen| seen.rebuilt_pages), Ok(1));
    }

    #[test]
    #[should_panic(expected = "returned none of its versions 1 to 1")]
    fn a_read_of_an_old_version_is_found() {
        let mut c = Contents::new(RAID5, 1);
        let version = c.issue(0, 0);
        c.acknowledge(0, 0, version);
        c.read_through(0, 0, 0);
    }
}
