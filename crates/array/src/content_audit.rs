//! Content audit: an independent record of page values that detects lost data and wrong parity.
//!
//! For a sample of the rows (`audit.sample`) every page has a value on its drive and in the stripe cache. A write sets the
//! value from the unit's address and version; parity is computed from values as the array computes it, old value included
//! ([`crate::raid::parity`]). A plan that reads too little, the use of an uncached page or a write to the wrong drive
//! therefore leaves wrong values. Versions come from host writes alone. For mirrors, the row of the first copy decides the
//! sampling and holds the versions.

mod power_loss;

use crate::raid::layout::{Layout, PageAddress};
use crate::raid::parity;
use crate::raid::plan::WriteStrategy;
use interpulse_engine::random::mix;
use std::collections::HashMap;

/// Value of an undefined page: equals a real value with probability 2^-64.
const NOTHING: u64 = 0x6e6f_7468_696e_6721;

/// One sampled row; arrays have an entry per drive.
#[derive(Clone)]
struct Row {
    on_drive: Box<[u64]>,
    cached: Box<[u64]>,
    /// Newest versions written and completed.
    issued: Box<[u32]>,
    acknowledged: Box<[u32]>,
    /// Versions in the stripe cache.
    taken: Box<[u32]>,
    /// After a power cut: versions up to the first read as this value, since the drive may hold any of them.
    settled: Box<[(u32, u64)]>,
    /// Pages being written at the last power cut (bit mask).
    touched: u32,
    hole: Option<Hole>,
}

/// Write hole: reconstruction of a missing page that differs from its last value.
#[derive(Clone, Copy)]
struct Hole {
    drive: u32,
    /// Versions up to this one read as `value`.
    upto: u32,
    value: u64,
}

impl Hole {
    /// Whether the page has not been written since.
    fn is_current(&self, of: &Row) -> bool {
        of.issued[self.drive as usize] <= self.upto
    }

    fn is_held(&self, values: &[u64]) -> bool {
        values[self.drive as usize] == self.value
    }
}

impl Row {
    /// Value of version `version` of the page on `drive`.
    fn value(&self, layout: &Layout, row: u32, drive: u32, version: u32) -> Option<u64> {
        let unit = layout.unit_at(drive, row)?;
        let (upto, settled) = self.settled[drive as usize];
        Some(if version <= upto { settled } else { value(unit, version) })
    }
}

/// Content audit. Look-ups are by key; only the final audit iterates, sorted.
pub struct ContentAudit {
    /// Largest hash of a sampled row.
    sampled: u64,
    layout: Layout,
    rows: HashMap<u32, Row>,
    /// Failed drives (bit mask).
    lost: u32,
    /// Pages returned to the host and checked.
    pub checked: u64,
}

/// Result of the content audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Data pages, copies included, with the newest version on their drive or by parity.
    pub data_pages: u64,
    /// Parity pages equal to the parity of the newest versions.
    pub parity_pages: u64,
    /// Pages of rebuilt drives equal to those of the failed ones.
    pub rebuilt_pages: u64,
}

fn value(unit: u64, version: u32) -> u64 {
    mix(mix(unit + 1) ^ u64::from(version))
}

impl ContentAudit {
    /// Samples one in `every` rows.
    pub fn new(layout: Layout, every: u32) -> ContentAudit {
        ContentAudit {
            sampled: u64::MAX.checked_div(u64::from(every)).unwrap_or(u64::MAX),
            layout,
            rows: HashMap::new(),
            lost: 0,
            checked: 0,
        }
    }

    /// Whether `row` is sampled.
    #[inline]
    pub fn samples(&self, row: u32) -> bool {
        mix(u64::from(row) + 1) <= self.sampled
    }

    fn row(&mut self, row: u32) -> &mut Row {
        let (layout, lost) = (self.layout, self.lost);
        self.rows.entry(row).or_insert_with(|| {
            let n = layout.drives as usize;
            let first = |d: u32| layout.unit_at(d, row).map_or(NOTHING, |unit| value(unit, 0));
            let mut values: Vec<u64> = (0..layout.drives).map(first).collect();
            if layout.level.parities() > 0 {
                recover(layout, row, &mut values, layout.parity_mask(row));
            }
            let held = |d: u32| if lost >> d & 1 == 1 { NOTHING } else { values[d as usize] };
            Row {
                on_drive: (0..layout.drives).map(held).collect(),
                cached: vec![NOTHING; n].into(),
                issued: vec![0; n].into(),
                acknowledged: vec![0; n].into(),
                taken: vec![0; n].into(),
                settled: (0..layout.drives).map(|d| (0, first(d))).collect(),
                touched: 0,
                hole: None,
            }
        })
    }

    /// Assigns the next version to a host write.
    #[cold]
    pub fn issue(&mut self, row: u32, drive: u32) -> u32 {
        let issued = &mut self.row(row).issued[drive as usize];
        *issued += 1;
        *issued
    }

    /// Completes a host write.
    #[cold]
    pub fn acknowledge(&mut self, row: u32, drive: u32, version: u32) {
        let newest = &mut self.row(row).acknowledged[drive as usize];
        *newest = version.max(*newest);
    }

    /// Oldest version that a read submitted now may return.
    #[cold]
    pub fn acknowledged(&mut self, row: u32, drive: u32) -> u32 {
        self.row(row).acknowledged[drive as usize]
    }

    /// Reads a page into the stripe cache.
    #[cold]
    pub fn fetch(&mut self, row: u32, drive: u32) {
        let of = self.row(row);
        of.cached[drive as usize] = of.on_drive[drive as usize];
    }

    /// Invalidates a cached page that was uncorrectable.
    #[cold]
    pub fn invalidate(&mut self, row: u32, drive: u32) {
        self.row(row).cached[drive as usize] = NOTHING;
    }

    /// Computes the `missing` pages (bit mask) from all others.
    #[cold]
    pub fn compute(&mut self, row: u32, missing: u32) {
        let layout = self.layout;
        recover(layout, row, &mut self.row(row).cached, missing);
    }

    /// Applies new versions to the stripe cache and updates parity by `strategy`.
    #[cold]
    pub fn drain(&mut self, row: u32, strategy: WriteStrategy, writes: impl Iterator<Item = (u32, u32)>) {
        let layout = self.layout;
        let parities = layout.level.parities();
        let first = layout.parity(row) as usize;
        let second = (first + 1) % layout.drives as usize;
        let of = self.row(row);
        for (drive, version) in writes {
            let unit = layout.unit_at(drive, row).expect("the host writes data");
            let new = value(unit, version);
            let difference = new ^ std::mem::replace(&mut of.cached[drive as usize], new);
            if strategy == WriteStrategy::ReadModifyWrite {
                of.cached[first] ^= difference;
                if parities == 2 {
                    let index = layout.from_parity(drive, row) - parities;
                    of.cached[second] ^= parity::weighted(index, difference);
                }
            }
            of.taken[drive as usize] = version;
        }
        if strategy != WriteStrategy::ReadModifyWrite {
            recover(layout, row, &mut of.cached, layout.parity_mask(row));
        }
    }

    /// Writes a page from the stripe cache to its drive.
    #[cold]
    pub fn store(&mut self, row: u32, drive: u32) {
        let of = self.row(row);
        of.on_drive[drive as usize] = of.cached[drive as usize];
    }

    /// Evicts the row from the stripe cache.
    #[cold]
    pub fn evict(&mut self, row: u32) {
        self.row(row).cached.fill(NOTHING);
    }

    /// Writes a page and its copies directly to the `present` drives, at submission: drives apply writes in order of
    /// submission.
    #[cold]
    pub fn write_through(&mut self, row: u32, drive: u32, version: u32, present: u32) {
        let layout = self.layout;
        let unit = layout.unit_at(drive, row).expect("the host writes data");
        for at in layout.copies(PageAddress { drive, row }) {
            if present >> at.drive & 1 == 1 {
                self.row(at.row).on_drive[at.drive as usize] = value(unit, version);
            }
        }
    }

    /// Checks a direct read from address `from` of the page whose first copy is on `drive`.
    #[cold]
    pub fn read_through(&mut self, row: u32, drive: u32, from: PageAddress) {
        let held = self.row(from.row).on_drive[from.drive as usize];
        let least = self.acknowledged(row, drive);
        self.check(row, drive, least, held);
    }

    /// Value at an address.
    #[cold]
    pub fn held(&mut self, at: PageAddress) -> u64 {
        self.row(at.row).on_drive[at.drive as usize]
    }

    /// Stores a copied value.
    #[cold]
    pub fn restore(&mut self, at: PageAddress, held: u64) {
        self.row(at.row).on_drive[at.drive as usize] = held;
    }

    /// Checks a read of the page of `drive` from the stripe cache.
    #[cold]
    pub fn read_cached(&mut self, row: u32, drive: u32, least: u32) {
        let held = self.row(row).cached[drive as usize];
        self.check(row, drive, least, held);
    }

    fn check(&mut self, row: u32, drive: u32, least: u32, held: u64) {
        let layout = self.layout;
        let unit = layout.unit_at(drive, row).expect("the host reads data");
        let of = self.row(row);
        let newest = of.issued[drive as usize];
        let of_hole =
            of.hole.is_some_and(|hole| hole.drive == drive && least <= hole.upto && hole.value == held);
        assert!(
            of_hole || (least..=newest).any(|version| of.value(&layout, row, drive, version) == Some(held)),
            "a read of unit {unit} of the array (row {row}, drive {drive}) returned none of its versions {least} to {newest}"
        );
        self.checked += 1;
    }

    /// Whether the cached parity matches the cached data.
    #[cold]
    pub fn cached_parity_holds(&mut self, row: u32) -> bool {
        let layout = self.layout;
        let of = self.row(row);
        let mut right = of.cached.clone();
        recover(layout, row, &mut right, layout.parity_mask(row));
        right == of.cached
    }

    /// Fails `drive`. `inconsistent` returns, for a row, whether a power cut may have left inconsistent parity and whether
    /// the row is in use. Returns the write-hole pages: in rows not in use, not written at the cut, and not recoverable from
    /// the others.
    pub fn drive_failed(&mut self, drive: u32, inconsistent: impl Fn(u32) -> (bool, bool)) -> u64 {
        let layout = self.layout;
        self.lost |= 1 << drive;
        let mut holes = 0;
        for (&row, of) in &mut self.rows {
            let (inconsistent, in_use) = inconsistent(row);
            if inconsistent && layout.unit_at(drive, row).is_some() {
                let mut found = of.on_drive.clone();
                recover(layout, row, &mut found, 1 << drive);
                let value = found[drive as usize];
                if value != of.on_drive[drive as usize] {
                    of.hole = Some(Hole { drive, upto: of.issued[drive as usize], value });
                    holes += u64::from(!in_use && of.touched >> drive & 1 == 0);
                }
            }
            of.on_drive[drive as usize] = NOTHING;
        }
        holes
    }

    /// Checks, with nothing outstanding, that every sampled page equals the newest host write. `readable` returns the drives
    /// that hold a row.
    pub fn audit(&self, readable: impl Fn(u32) -> u32) -> Result<Audited, String> {
        self.audit_before_resync(readable, |_| false)
    }

    /// As [`ContentAudit::audit`], while a resync has to write the parity of the rows of which `waits` is true.
    pub fn audit_before_resync(
        &self,
        readable: impl Fn(u32) -> u32,
        waits: impl Fn(u32) -> bool,
    ) -> Result<Audited, String> {
        let layout = self.layout;
        let mut seen = Audited::default();
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(row, _)| **row);
        let all = ((1u64 << layout.drives) - 1) as u32;
        for (&row, of) in rows {
            if of.issued != of.acknowledged {
                return Err(format!("row {row}: writes {:?}, completed {:?}", of.issued, of.acknowledged));
            }
            let there = readable(row);
            let mut found = of.on_drive.clone();
            let mut right: Vec<u64> =
                (0..layout.drives).map(|d| self.newest(row, d).unwrap_or(NOTHING)).collect();
            if layout.level.parities() > 0 {
                // Missing pages are reconstructed from all others.
                recover(layout, row, &mut found, all & !there);
                if let Some(hole) = of.hole.filter(|hole| hole.is_current(of) && hole.is_held(&found)) {
                    right[hole.drive as usize] = hole.value;
                }
                recover(layout, row, &mut right, layout.parity_mask(row));
            }
            for d in 0..layout.drives {
                let unit = layout.unit_at(d, row);
                let here = there >> d & 1 == 1;
                if layout.level.parities() == 0 {
                    let Some(first) = unit.map(|unit| layout.place(unit)) else { continue };
                    if !self.samples(first.row) {
                        continue;
                    }
                    if !layout.copies(first).any(|at| readable(at.row) >> at.drive & 1 == 1) {
                        return Err(format!("row {row}: no drive holds the page of drive {d}"));
                    }
                    if !here {
                        continue;
                    }
                }
                if unit.is_none() && there == all && waits(row) {
                    continue;
                }
                if found[d as usize] != right[d as usize] {
                    let what = if unit.is_some() { "data" } else { "parity" };
                    let by = if here { "holds" } else { "is missing, and the others give" };
                    return Err(format!("row {row}: drive {d} {by} wrong {what}"));
                }
                seen.rebuilt_pages += u64::from(here && self.lost >> d & 1 == 1);
                if unit.is_some() {
                    seen.data_pages += 1;
                } else {
                    seen.parity_pages += 1;
                }
            }
        }
        Ok(seen)
    }

    /// Value of a data page according to host writes alone.
    fn newest(&self, row: u32, drive: u32) -> Option<u64> {
        let unit = self.layout.unit_at(drive, row)?;
        let first = self.layout.place(unit);
        let of = self.rows.get(&first.row);
        let newest =
            |of: &Row| of.value(&self.layout, first.row, first.drive, of.issued[first.drive as usize]);
        of.map_or(Some(value(unit, 0)), newest)
    }
}

/// Computes the `missing` values (bit mask) of a row from all others.
fn recover(layout: Layout, row: u32, values: &mut [u64], missing: u32) {
    let parities = layout.level.parities();
    // Order of [`parity::recover`]: data, then parities.
    let drive_of = |k: u32| ((layout.parity(row) + parities + k) % layout.drives) as usize;
    let mut code: Vec<u64> = (0..layout.drives).map(|k| values[drive_of(k)]).collect();
    let absent = (0..layout.drives).filter(|&k| missing >> drive_of(k) & 1 == 1).fold(0, |m, k| m | 1 << k);
    parity::recover(&mut code, parities == 2, absent);
    (0..layout.drives).for_each(|k| values[drive_of(k)] = code[k as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Level;

    const RAID5: Layout = Layout { level: Level::Raid5, drives: 4, chunk: 1, rows: 8 };

    fn written(strategy: WriteStrategy, fetched: &[u32]) -> Result<Audited, String> {
        let mut c = ContentAudit::new(RAID5, 1);
        let version = c.issue(0, 1);
        fetched.iter().for_each(|&d| c.fetch(0, d));
        c.drain(0, strategy, [(1, version)].into_iter());
        c.store(0, 1);
        c.store(0, 3);
        c.acknowledge(0, 1, version);
        c.audit(|_| 0b1111)
    }

    #[test]
    fn both_strategies_leave_the_same_parity() {
        let fine = Ok(Audited { data_pages: 3, parity_pages: 1, rebuilt_pages: 0 });
        assert_eq!(written(WriteStrategy::ReadModifyWrite, &[1, 3]), fine);
        assert_eq!(written(WriteStrategy::ReconstructWrite, &[0, 2]), fine);
    }

    #[test]
    fn a_missing_preread_makes_wrong_parity() {
        let wrong = Err("row 0: drive 3 holds wrong parity".to_string());
        assert_eq!(written(WriteStrategy::ReadModifyWrite, &[1]), wrong);
        assert_eq!(written(WriteStrategy::ReconstructWrite, &[0]), wrong);
    }

    #[test]
    fn a_wrong_second_parity_is_found() {
        // Five drives: Q 0 1 2 P.
        let layout = Layout { level: Level::Raid6, drives: 5, chunk: 1, rows: 5 };
        let written = |fetched: &[u32], stored: &[u32]| {
            let mut c = ContentAudit::new(layout, 1);
            let version = c.issue(0, 2);
            fetched.iter().for_each(|&d| c.fetch(0, d));
            c.drain(0, WriteStrategy::ReadModifyWrite, [(2, version)].into_iter());
            stored.iter().for_each(|&d| c.store(0, d));
            c.acknowledge(0, 2, version);
            // With any two drives missing, the others give the right data or the audit fails.
            let audits: Vec<_> = (0..5)
                .flat_map(|x| (0..5).map(move |y| 0b1_1111 & !(1 << x | 1 << y)))
                .map(|readable| c.audit(|_| readable).is_ok())
                .collect();
            (c.audit(|_| 0b1_1111), audits)
        };
        let (whole, lost) = written(&[0, 2, 4], &[0, 2, 4]);
        assert_eq!(whole, Ok(Audited { data_pages: 3, parity_pages: 2, rebuilt_pages: 0 }));
        assert!(lost.iter().all(|fine| *fine));
        let (whole, lost) = written(&[0, 2, 4], &[2, 4]);
        assert_eq!(whole, Err("row 0: drive 0 holds wrong parity".to_string()));
        assert!(lost.iter().any(|fine| !fine));
        assert!(written(&[2, 4], &[0, 2, 4]).0.is_err(), "Q was not read");
    }

    #[test]
    fn a_lost_drive_is_reconstructed_and_its_rebuild_checked() {
        let mut c = ContentAudit::new(RAID5, 1);
        c.drive_failed(2, |_| (false, false));
        [0, 1, 3].into_iter().for_each(|d| c.fetch(0, d));
        assert_eq!(c.audit(|_| 0b1011).map(|seen| seen.rebuilt_pages), Ok(0));
        assert_eq!(c.audit(|_| 0b1111), Err("row 0: drive 2 holds wrong data".to_string()));
        c.compute(0, 1 << 2);
        c.read_cached(0, 2, 0);
        c.store(0, 2);
        assert_eq!(c.audit(|_| 0b1111).map(|seen| seen.rebuilt_pages), Ok(1));
    }

    #[test]
    #[should_panic(expected = "returned none of its versions 1 to 1")]
    fn a_stale_read_is_detected() {
        let mut c = ContentAudit::new(RAID5, 1);
        let version = c.issue(0, 0);
        c.acknowledge(0, 0, version);
        c.read_through(0, 0, PageAddress { drive: 0, row: 0 });
    }
}
