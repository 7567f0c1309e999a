//! Writes of an extent that come in bursts: as many in all as the plan says, but several of them close together in time.
//!
//! A row says how often each extent is written, not when. By default every order of all writes is equally likely, so the time
//! between two writes of an extent is that of the whole trace over their number. Real traces update what they have just
//! written. Here the writes of each extent are taken `each` at a time, and a burst's writes fall within a window of writes;
//! what does not fill a burst comes alone, at any time.

use super::extents::Extents;
use crate::synthetic::permute::Permutation;
use interpulse_engine::random::mix;

/// The writes of some extents that are written equally often.
#[derive(Clone, Copy)]
struct Group {
    /// Of the bursts and of the single writes: the number of its first.
    first: [u64; 2],
    extents: u64,
    /// Bursts of each extent.
    bursts: u64,
    first_write: u64,
}

/// The order of the writes of a twin.
pub(super) struct Bursts {
    each: u64,
    /// Writes in bursts, those of a window among them.
    writes: u64,
    window: u64,
    groups: Vec<Group>,
    bursts: Option<Permutation>,
    singles: Option<Permutation>,
    key: u64,
    /// The order within the window that has been begun.
    within: Option<Permutation>,
    /// Writes given out: in bursts, and single ones.
    given: [u64; 2],
}

impl Bursts {
    /// Bursts of `each` writes of `extents`; `window` is in writes that belong to bursts, for all writes being such.
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
            given: [0, 0],
        }
    }

    /// The next write, of a burst if `place`, which comes in random order, is among the writes of bursts.
    pub fn next(&mut self, place: u64) -> u64 {
        if place < self.writes { self.next_of_burst() } else { self.next_single() }
    }

    fn next_of_burst(&mut self) -> u64 {
        let given = self.given[0];
        self.given[0] += 1;
        let (window, at) = (given / self.window, given % self.window);
        if at == 0 {
            let left = self.window.min(self.writes - given);
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
        let single = self.singles.as_ref().expect("there are single writes").apply(self.given[1]);
        self.given[1] += 1;
        let group = self.group(1, single);
        let number = single - group.first[1];
        let of_extent = group.bursts * self.each + number / group.extents;
        group.first_write + of_extent * group.extents + number % group.extents
    }

    /// The group of a burst (`which` 0) or of a single write (1). Groups that have none share their first with the next.
    fn group(&self, which: usize, number: u64) -> Group {
        self.groups[self.groups.partition_point(|g| g.first[which] <= number) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::sizes::SizeCounts;
    use super::super::spec::UpdateShape;
    use super::*;

    /// Every write comes exactly once, and those of a burst lie within two windows.
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
                // Three of four intervals are those of a burst, as far as there are enough writes for one.
                assert!(near > 0.65, "{near}");
            }
        }
    }
}
