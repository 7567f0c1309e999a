//! Update statistics: write counts and intervals of flash pages (Section 5 and Figure 10 of Gao et al., MICRO 2019).
//!
//! Pages are flash pages, which may be larger than 4 KiB; writes of one instant to one flash page count once.

use interpulse_engine::SimTime;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of ranks of the update curve.
const CURVE: usize = 60;

#[derive(Clone, Copy, Default)]
struct Page {
    writes: u32,
    last: u64,
}

/// Data pages or parity pages.
#[derive(Default)]
struct Pages {
    by_address: HashMap<u64, Page>,
    writes: u64,
    intervals: u64,
    interval_ns: u128,
}

impl Pages {
    fn note(&mut self, address: u64, now: u64) {
        let page = self.by_address.entry(address).or_default();
        if page.writes > 0 {
            if page.last == now {
                return;
            }
            self.intervals += 1;
            self.interval_ns += u128::from(now - page.last);
        }
        page.writes += 1;
        page.last = now;
        self.writes += 1;
    }

    fn section(&self) -> Value {
        let mut o = Map::new();
        o.insert("pages".into(), json!(self.by_address.len()));
        o.insert("writes".into(), json!(self.writes));
        if self.intervals > 0 {
            let mean = self.interval_ns as f64 / self.intervals as f64 / 1e9;
            o.insert("mean_interval_s".into(), json!(mean));
        }
        Value::Object(o)
    }
}

/// Deferred parity: parity writes if parity were written only when its stripe leaves an LRU cache of stripes, as the paper's
/// "cached stripes" allow and md does not.
#[derive(Default)]
struct DeferredParity {
    stripes: usize,
    rows_per_stripe: u32,
    /// By stripe: last write, and rows with outdated parity.
    cached: HashMap<u32, (u64, HashSet<u32>)>,
    by_age: BTreeMap<u64, u32>,
    clock: u64,
    data_pages: u64,
    parity_pages: u64,
}

impl DeferredParity {
    fn note(&mut self, row: u32) {
        self.data_pages += 1;
        self.clock += 1;
        let stripe = row / self.rows_per_stripe;
        let (last, rows) = self.cached.entry(stripe).or_insert_with(|| (self.clock, HashSet::new()));
        self.by_age.remove(last);
        *last = self.clock;
        rows.insert(row);
        self.by_age.insert(self.clock, stripe);
        if self.cached.len() > self.stripes {
            let (_, oldest) = self.by_age.pop_first().expect("stripes are cached");
            let (_, rows) = self.cached.remove(&oldest).expect("it is cached");
            self.parity_pages += rows.len() as u64;
        }
    }

    /// Parity pages per data page, including cached ones.
    fn share(&self) -> Option<f64> {
        let cached: usize = self.cached.values().map(|(_, rows)| rows.len()).sum();
        let parity = self.parity_pages + cached as u64;
        (self.data_pages > 0).then(|| parity as f64 / self.data_pages as f64)
    }
}

/// Statistics of array writes to flash pages.
pub(crate) struct UpdateStatistics {
    /// log2 of 4 KiB pages in a flash page.
    shift: u32,
    data: Pages,
    parity: Pages,
    deferred: DeferredParity,
}

impl UpdateStatistics {
    /// Creates statistics for flash pages of `pages` 4 KiB pages and a cache of `stripes` stripes.
    pub fn new(pages: u32, stripes: u32, rows_per_stripe: u32) -> UpdateStatistics {
        let deferred =
            DeferredParity { stripes: stripes as usize, rows_per_stripe, ..DeferredParity::default() };
        UpdateStatistics {
            shift: pages.max(1).ilog2(),
            data: Pages::default(),
            parity: Pages::default(),
            deferred,
        }
    }

    /// Counts a write to the page of `row` on `drive`.
    pub fn note(&mut self, now: SimTime, drive: u32, row: u32, parity: bool) {
        let address = u64::from(drive) << 32 | u64::from(row >> self.shift);
        let of = if parity { &mut self.parity } else { &mut self.data };
        of.note(address, now.as_ns());
        if !parity {
            self.deferred.note(row);
        }
    }

    pub fn section(&self) -> Value {
        let mut updates: Vec<u32> = self.counts().map(|page| page.writes - 1).collect();
        updates.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = updates.iter().map(|&n| u64::from(n)).sum();
        let fifth: u64 = updates[..updates.len().div_ceil(5)].iter().map(|&n| u64::from(n)).sum();
        let mut o = Map::new();
        o.insert("data".into(), self.data.section());
        o.insert("parity".into(), self.parity.section());
        if let Some(share) = self.deferred.share() {
            o.insert("parity_per_data_page_if_deferred".into(), json!(share));
        }
        if all > 0 {
            o.insert("share_of_busiest_fifth".into(), json!(fifth as f64 / all as f64));
        }
        // Geometric progression of ranks.
        let ranks = (0..CURVE).map(|k| {
            let share = k as f64 / (CURVE - 1) as f64;
            libm::round(libm::pow(updates.len() as f64, share)) as usize
        });
        let mut ranks: Vec<usize> = ranks.filter(|&rank| rank >= 1 && rank <= updates.len()).collect();
        ranks.dedup();
        let curve: Vec<Value> = ranks.iter().map(|&rank| json!([rank, updates[rank - 1]])).collect();
        o.insert("updates_by_rank".into(), json!(curve));
        Value::Object(o)
    }

    fn counts(&self) -> impl Iterator<Item = &Page> {
        self.data.by_address.values().chain(self.parity.by_address.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_shares() {
        let mut updates = UpdateStatistics::new(4, 17, 1);
        let s = |n: u64| SimTime(n * 1_000_000_000);
        // Four rows of one flash page at one instant count as one write.
        (0..4).for_each(|row| updates.note(s(1), 0, row, false));
        updates.note(s(5), 0, 2, false);
        updates.note(s(7), 0, 3, false);
        (1..5).for_each(|page| updates.note(s(1), 0, page * 4, false));
        updates.note(s(1), 1, 0, true);
        updates.note(s(2), 1, 0, true);
        let seen = updates.section();
        assert_eq!(seen["data"], json!({ "pages": 5, "writes": 7, "mean_interval_s": 3.0 }));
        assert_eq!(seen["parity"], json!({ "pages": 1, "writes": 2, "mean_interval_s": 1.0 }));
        // The busiest fifth of six pages, rounded up, is two: 2 + 1 of 3 updates.
        assert_eq!(seen["share_of_busiest_fifth"], 1.0);
        assert_eq!(seen["updates_by_rank"][0], json!([1, 2]));
    }

    /// With two cached stripes, the parity of a row is written once while its stripe stays cached.
    #[test]
    fn deferred_parity() {
        let share = |rows_per_stripe: u32, rows: &[u32]| {
            let mut updates = UpdateStatistics::new(1, 2, rows_per_stripe);
            rows.iter().for_each(|&row| updates.note(SimTime(1), 0, row, false));
            updates.section()["parity_per_data_page_if_deferred"].as_f64().expect("there are writes")
        };
        assert_eq!(share(1, &[0, 0, 1, 1, 0]), 2.0 / 5.0);
        assert_eq!(share(1, &[0, 1, 2, 0, 1, 2]), 1.0);
        assert_eq!(share(4, &[0, 1, 2, 0, 1, 2]), 3.0 / 6.0);
        assert_eq!(share(4, &[0, 4, 8, 0]), 1.0);
    }
}
