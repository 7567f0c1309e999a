//! Extent plan of a twin: extents written and writes of each, such that unique volume, rewritten share and skew match
//! by construction.
//!
//! The written part of a twin is a sequence of extents, each aligned to 4 KiB and without shared 4 KiB pages. An
//! extent is written whole, by requests of its size: once new, and again for each update. For each request size,
//! largest first, the plan determines the number of extents (their volumes sum to the unique volume; each size
//! compensates the rounding of the larger sizes) and the writes of each (all writes of that size, distributed evenly
//! within a hot fifth and a cold rest, or by a power of the rank of the extent). Bisection on the exact statistic of
//! the plan determines the inequality.
//!
//! The writes of the twin are the writes of all extents in random order. Only the order is random: every count is
//! exact, and any part of the twin has the statistics of the whole.

use super::shape::zipf_counts;
use super::sizes::SizeCounts;
use super::spec::UpdateShape;
use crate::error::Illegal;
use interpulse_engine::SECTOR;

/// Page of the skew and alignment of extents: 4 KiB in sectors.
pub(super) const PAGE_SECTORS: u64 = 8;

const TOLERANCE: f64 = 0.015;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Group {
    sectors: u32,
    extents: u64,
    /// Writes of each extent, the first included.
    writes: u64,
    /// Number of the first write of the group, and first sector of its first extent.
    first_write: u64,
    base: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Extents {
    groups: Vec<Group>,
    /// First sector after the last extent, a multiple of 4 KiB.
    end: u64,
}

/// Extents and writes of one size, before the separation into hot and cold.
#[derive(Clone, Copy)]
struct Class {
    sectors: u32,
    writes: u64,
    extents: u64,
}

impl Class {
    fn pages(self) -> u64 {
        u64::from(self.sectors).div_ceil(PAGE_SECTORS)
    }

    fn updates(self) -> u64 {
        self.writes - self.extents
    }
}

impl Extents {
    /// Plan for writes of these sizes with the share `rewritten` of their volume rewritten and the share `skew` of
    /// the updates on the busiest fifth of the pages (evenly distributed if `None`).
    ///
    /// Errors: no plan is within 1.5 %; the message gives the possible values.
    pub fn new(
        sizes: &SizeCounts,
        rewritten: f64,
        skew: Option<f64>,
        shape: UpdateShape,
    ) -> Result<Extents, Illegal> {
        let classes = distribute_extents(sizes, rewritten)?;
        // Parameter of each shape, from evenly distributed to the most unequal.
        let (evenly, most_unequal) = match shape {
            UpdateShape::Fifth => (0.2, 1.0),
            UpdateShape::Zipf => (0.0, 4.0),
        };
        let skewed = |unequal: f64| match shape {
            UpdateShape::Fifth => Extents::place(&classes, unequal),
            UpdateShape::Zipf => Extents::place_by_rank(&classes, unequal),
        };
        let Some(skew) = skew else { return Ok(skewed(evenly)) };
        let (even, utmost) = (skewed(evenly), skewed(most_unequal));
        let (Some(least), Some(most)) = (even.busiest_fifth(), utmost.busiest_fifth()) else {
            return Err(Illegal::new("update-skew", skew, "omitted, because no page is written twice"));
        };
        let (mut low, mut high) = (evenly, most_unequal);
        let mut best =
            if (least - skew).abs() < (most - skew).abs() { (least, even) } else { (most, utmost) };
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let tried = skewed(middle);
            let got = tried.busiest_fifth().expect("there are updates however they are spread");
            if got < skew {
                low = middle
            } else {
                high = middle
            }
            if (got - skew).abs() < (best.0 - skew).abs() {
                best = (got, tried);
            }
        }
        if (best.0 / skew - 1.0).abs() > TOLERANCE {
            let legal = format!(
                "a share that these sizes and this unique volume allow: {least:.4} (updates spread evenly) to \
                 {most:.4} (all on a fifth of the extents); the nearest is {:.4}",
                best.0
            );
            return Err(Illegal::new("update-skew", skew, legal));
        }
        Ok(best.1)
    }

    /// Extents of all classes, with the share `hot` of the updates on a fifth of the extents. Classes are ordered by
    /// decreasing size: sizes with few extents cannot be split into a fifth and the rest, and the more numerous
    /// smaller extents compensate them.
    fn place(classes: &[Class], hot: f64) -> Extents {
        let mut plan = Extents { groups: Vec::new(), end: 0 };
        let (mut writes, mut pages, mut updates) = (0, 0.0, 0.0);
        let (mut hot_pages, mut hot_updates) = (0.0, 0.0);
        for class in classes {
            let size = class.pages() as f64;
            pages += class.extents as f64 * size;
            updates += class.updates() as f64 * size;
            let wanted =
                |total: f64, share: f64, had: f64| libm::round((share * total - had).max(0.0) / size) as u64;
            let hot_extents = wanted(pages, 0.2, hot_pages).min(class.extents);
            let to_hot = match hot_extents {
                0 => 0,
                all if all == class.extents => class.updates(),
                _ => wanted(updates, hot, hot_updates).min(class.updates()),
            };
            hot_pages += hot_extents as f64 * size;
            hot_updates += to_hot as f64 * size;
            let parts = [(hot_extents, to_hot), (class.extents - hot_extents, class.updates() - to_hot)];
            for (extents, updates) in parts.into_iter().filter(|&(extents, _)| extents > 0) {
                let (each, more) = (updates / extents, updates % extents);
                for (extents, updates) in [(more, each + 1), (extents - more, each)] {
                    plan.push(class.sectors, extents, updates + 1, &mut writes);
                }
            }
        }
        plan
    }

    /// Extents of all classes, updated in proportion to rank^-exponent within each class.
    fn place_by_rank(classes: &[Class], exponent: f64) -> Extents {
        let mut plan = Extents { groups: Vec::new(), end: 0 };
        let mut writes = 0;
        for class in classes {
            for (extents, updates) in zipf_counts(class.extents, class.updates(), exponent) {
                plan.push(class.sectors, extents, updates + 1, &mut writes);
            }
        }
        plan
    }

    fn push(&mut self, sectors: u32, extents: u64, writes: u64, first_write: &mut u64) {
        if extents > 0 {
            self.groups.push(Group { sectors, extents, writes, first_write: *first_write, base: self.end });
            *first_write += extents * writes;
            self.end += extents * u64::from(sectors).next_multiple_of(PAGE_SECTORS);
        }
    }

    /// Share of the page updates on the busiest fifth (rounded up) of the pages; `None` without updates.
    fn busiest_fifth(&self) -> Option<f64> {
        let pages_of = |g: &Group| g.extents * u64::from(g.sectors).div_ceil(PAGE_SECTORS);
        let mut groups: Vec<(u64, u64)> = self.groups.iter().map(|g| (g.writes - 1, pages_of(g))).collect();
        groups.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = groups.iter().map(|&(updates, pages)| updates * pages).sum();
        let mut left = groups.iter().map(|&(_, pages)| pages).sum::<u64>().div_ceil(5);
        let mut busiest = 0;
        for (updates, pages) in groups {
            busiest += updates * pages.min(left);
            left -= pages.min(left);
        }
        (all > 0).then(|| busiest as f64 / all as f64)
    }

    /// Start and size, in sectors, of write number `write` (below the number of writes, not in order of time).
    #[inline]
    pub fn write(&self, write: u64) -> (u64, u32) {
        let group = self.groups[self.groups.partition_point(|g| g.first_write <= write) - 1];
        let extent = (write - group.first_write) % group.extents;
        (group.base + extent * u64::from(group.sectors).next_multiple_of(PAGE_SECTORS), group.sectors)
    }

    /// Groups of extents that are written equally often: number of extents, writes of each, and number of the first
    /// write. Write number k of extent e is `first + k * extents + e`.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.groups.iter().map(|g| (g.extents, g.writes, g.first_write))
    }

    /// First sector after the last extent, a multiple of 4 KiB.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// Extents of each size, largest first, such that their volumes sum to the unique volume within 1.5 %.
fn distribute_extents(sizes: &SizeCounts, rewritten: f64) -> Result<Vec<Class>, Illegal> {
    let sector = SECTOR.get() as f64;
    let unique = sizes.volume_bytes() * (1.0 - rewritten) / sector;
    let mut owed = 0.0;
    let mut classes: Vec<Class> = Vec::new();
    for &(sectors, writes) in sizes.by_size.iter().rev() {
        let size = f64::from(sectors);
        owed += writes as f64 * (1.0 - rewritten) * size;
        let extents = (libm::round(owed / size).max(1.0) as u64).min(writes);
        owed -= extents as f64 * size;
        classes.push(Class { sectors, writes, extents });
    }
    // Sizes within their bounds, smallest first, compensate the remaining volume.
    for class in classes.iter_mut().rev() {
        let size = f64::from(class.sectors);
        let now = class.extents as f64;
        let then = libm::round(now + owed / size).clamp(1.0, class.writes as f64);
        owed -= (then - now) * size;
        class.extents = then as u64;
    }
    // The volume and the share must both match, so the smaller of new and rewritten volume sets the tolerance.
    let written = sizes.volume_bytes() / sector;
    if owed.abs() > TOLERANCE * unique.min(written - unique) + 1e-6 * written.min(1.0) {
        let made = (unique - owed) * sector;
        let found = format!(
            "{rewritten:.6} of {:.0}B written, so {:.0}B unique",
            sizes.volume_bytes(),
            unique * sector
        );
        let legal = format!(
            "a unique volume that holds whole writes, at least one of each size (the nearest here is {made:.0}B); \
             more requests, fewer or smaller sizes, or a smaller share help"
        );
        return Err(Illegal::new("rewritten-share", found, legal));
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_writes(plan: &Extents, writes: u64) -> Vec<u64> {
        let mut pages = vec![0; (plan.end() / PAGE_SECTORS) as usize];
        for (start, sectors) in (0..writes).map(|w| plan.write(w)) {
            assert_eq!(start % PAGE_SECTORS, 0);
            for page in start / PAGE_SECTORS..(start + u64::from(sectors)).div_ceil(PAGE_SECTORS) {
                pages[page as usize] += 1;
            }
        }
        pages
    }

    #[test]
    fn a_plan_written_out_is_what_it_says() {
        let sizes = SizeCounts { by_size: vec![(3, 500), (8, 4000), (20, 1000), (256, 30)] };
        let writes = 5530;
        let (fifth, zipf) = (UpdateShape::Fifth, UpdateShape::Zipf);
        let plans = [(0.9, 0.739, fifth), (0.6, 0.5, fifth), (0.3, 0.8, fifth), (0.97, 0.4, fifth)];
        let ranked = [(0.9, 0.739, zipf), (0.95, 0.5, zipf), (0.97, 0.9, zipf)];
        for (rewritten, skew, shape) in plans.into_iter().chain(ranked) {
            let plan = Extents::new(&sizes, rewritten, Some(skew), shape).ok().expect("a legal plan");
            let mut pages = page_writes(&plan, writes);
            assert!(pages.iter().all(|&writes| writes > 0), "every page belongs to an extent");
            pages.sort_unstable_by(|a, b| b.cmp(a));
            let top: u64 = pages[..pages.len().div_ceil(5)].iter().map(|w| w - 1).sum();
            let all: u64 = pages.iter().map(|w| w - 1).sum();
            let share = top as f64 / all as f64;
            assert_eq!(Some(share), plan.busiest_fifth());
            assert!((share / skew - 1.0).abs() < TOLERANCE, "{share} for {skew}");
            let volume: u64 = plan.groups.iter().map(|g| g.extents * u64::from(g.sectors)).sum();
            let unique = volume as f64 * 512.0 / sizes.volume_bytes();
            assert!((unique / (1.0 - rewritten) - 1.0).abs() < TOLERANCE, "{unique} for {rewritten}");
            for &(sectors, count) in &sizes.by_size {
                let of_size = plan.groups.iter().filter(|g| g.sectors == sectors);
                assert_eq!(of_size.map(|g| g.extents * g.writes).sum::<u64>(), count);
            }
        }
    }

    #[test]
    fn nothing_rewritten_has_an_extent_for_each_write() {
        let sizes = SizeCounts { by_size: vec![(8, 100), (16, 10)] };
        let plan = Extents::new(&sizes, 0.0, None, UpdateShape::Fifth).ok().expect("a legal plan");
        assert_eq!(page_writes(&plan, 110), vec![1; 120]);
        assert!(
            Extents::new(&sizes, 0.0, Some(0.5), UpdateShape::Fifth).is_err(),
            "there are no updates to skew"
        );
    }

    #[test]
    fn what_no_plan_can_meet_is_refused() {
        let sizes = SizeCounts { by_size: vec![(8, 1000)] };
        // A tenth of updates over nine tenths of pages: the busiest fifth has all updates in any distribution.
        assert!(Extents::new(&sizes, 0.1, Some(0.5), UpdateShape::Fifth).is_err());
        // One write is 1/1000 of the volume.
        assert!(Extents::new(&sizes, 0.9999, None, UpdateShape::Fifth).is_err());
    }
}
