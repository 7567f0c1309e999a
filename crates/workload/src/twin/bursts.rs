//! Write order of a twin with bursts: the plan fixes the number of writes per extent, bursts cluster them in time.
//!
//! A row gives the number of writes of each extent, not their times. By default every order of all writes is equally
//! likely. Real traces update recently written data: here the writes of each extent are grouped by `each`, and a
//! burst falls within a window of writes; the remaining writes are single, at any time.

use super::extents::Extents;
use crate::synthetic::permutation::Permutation;
use interpulse_engine::random::mix;

/// Writes of extents that are written equally often.
#[derive(Clone, Copy)]
struct Group {
    /// Number of the first burst and of the first single write.
    first: [u64; 2],
    extents: u64,
    bursts: u64,
    first_write: u64,
}

pub(super) struct Bursts {
    each: u64,
    /// Window length: writes in bursts.
    writes: u64,
    window: u64,
    groups: Vec<Group>,
    bursts: Option<Permutation>,
    singles: Option<Permutation>,
    key: u64,
    within: Option<Permutation>,
    /// Writes issued: in bursts, and single ones.
    issued: [u64; 2],
}

impl Bursts {
    /// Order with bursts of `each` writes of `extents`; `window` counts writes, as if all belonged to bursts.
    pub fn new(extents: &Extents, each: u64, window: u64, key: u64) -> Bursts {
        let mut first = [0, 0];
        let mut groups = Vec::new();
        for (count, writes, first_write) in extents.counts() {
            let bursts = writes / each;
            groups.push(Group { first, extents: count, bursts, first_write });
            first[0] += count * bursts;
            first[1] += count * (writes % each);
        }
        let order = |n: u64, purpose: u64| (n > 0).then(|| Permutation::new(n, mix(key ^ purpose)));
        let writes = first[0] * each;
        let share = writes as f64 / (writes + first[1]).max(1) as f64;
        Bursts {
            each,
            writes,
            window: ((window as f64 * share) as u64).max(each),
            groups,
            bursts: order(first[0], 1),
            singles: order(first[1], 2),
            key,
            within: None,
            issued: [0, 0],
        }
    }

    /// Next write; it belongs to a burst if `place`, which has random order, is below the number of burst writes.
    pub fn next(&mut self, place: u64) -> u64 {
        if place < self.writes { self.next_of_burst() } else { self.next_single() }
    }

    fn next_of_burst(&mut self) -> u64 {
        let issued = self.issued[0];
        self.issued[0] += 1;
        let (window, at) = (issued / self.window, issued % self.window);
        if at == 0 {
            let left = self.window.min(self.writes - issued);
            self.within = Some(Permutation::new(left, mix(self.key ^ mix(window))));
        }
        let shuffled = self.within.as_ref().expect("a window has begun").apply(at);
        let place = window * self.window + shuffled;
        let burst = self.bursts.as_ref().expect("there are bursts").apply(place / self.each);
        let group = self.group(0, burst);
        let number = burst - group.first[0];
        let of_extent = number / group.extents * self.each + place % self.each;
        group.first_write + of_extent * group.extents + number % group.extents
    }

    fn next_single(&mut self) -> u64 {
        let single = self.singles.as_ref().expect("there are single writes").apply(self.issued[1]);
        self.issued[1] += 1;
        let group = self.group(1, single);
        let number = single - group.first[1];
        let of_extent = group.bursts * self.each + number / group.extents;
        group.first_write + of_extent * group.extents + number % group.extents
    }

    /// Group of a burst (`which` 0) or of a single write (1). Empty groups share their first number with the next
    /// group.
    fn group(&self, which: usize, number: u64) -> Group {
        self.groups[self.groups.partition_point(|g| g.first[which] <= number) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::sizes::SizeCounts;
    use super::super::spec::UpdateShape;
    use super::*;

    /// Every write occurs exactly once, and those of a burst lie within two windows.
    #[test]
    fn every_write_once_and_bursts_together() {
        let sizes = SizeCounts { by_size: vec![(8, 4000), (20, 1000), (256, 30)] };
        let extents = Extents::new(&sizes, 0.9, Some(0.739), UpdateShape::Fifth).ok().expect("a legal plan");
        let writes = 5030;
        for (each, window) in [(1, 50), (4, 100), (7, 7), (50, 400), (10_000, 50)] {
            let mut bursts = Bursts::new(&extents, each, window, 9);
            let order = Permutation::new(writes, 3);
            let mut last: std::collections::HashMap<u64, Vec<u64>> = Default::default();
            let mut seen = vec![false; writes as usize];
            for i in 0..writes {
                let write = bursts.next(order.apply(i));
                assert!(!std::mem::replace(&mut seen[write as usize], true), "write {write} came twice");
                last.entry(extents.write(write).0).or_default().push(i);
            }
            assert!(seen.iter().all(|&s| s));
            if each == 4 {
                let gaps = last.values().flat_map(|at| at.windows(2).map(|w| w[1] - w[0]));
                let gaps: Vec<u64> = gaps.collect();
                let near = gaps.iter().filter(|&&gap| gap <= 200).count() as f64 / gaps.len() as f64;
                // Three of four intervals are inside a burst if there are enough writes.
                assert!(near > 0.65, "{near}");
            }
        }
    }
}
