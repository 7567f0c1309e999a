//! Request counts of a twin by size.
//!
//! Counts are whole numbers with exact sums, not random draws. A list of sizes with weights is apportioned by largest
//! remainder; moving a few requests to the next size then corrects the mean. A mean alone results in a ladder of
//! sizes, each twice the previous one, with geometric counts and a volume that matches the mean within half a rung
//! unit: 4 KiB, or 512 B for a mean below that.

use crate::error::Illegal;
use interpulse_engine::{Bytes, SECTOR};

/// Relative tolerance of a mean. Combined with the tolerance of the unique volume it stays below 2 %.
const TOLERANCE: f64 = 0.004;

const PAGE_SECTORS: u32 = 8;

/// Sizes of the reads or of the writes of a row.
#[derive(Clone, PartialEq, Debug)]
pub enum TwinSizes {
    /// Mean in bytes; the sizes are generated.
    Mean(f64),
    /// Sizes with weights, of which only the ratios matter.
    Listed(Vec<(Bytes, f64)>),
}

impl TwinSizes {
    /// Mean of the row in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            TwinSizes::Mean(bytes) => *bytes,
            TwinSizes::Listed(list) => {
                let total: f64 = list.iter().map(|&(_, weight)| weight).sum();
                list.iter().map(|&(size, weight)| size.get() as f64 * weight).sum::<f64>() / total
            }
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct SizeCounts {
    /// Sizes in sectors, ascending, with the number of requests (at least one).
    pub by_size: Vec<(u32, u64)>,
}

impl SizeCounts {
    /// Sizes of `total` requests; several alternatives for generated sizes, the preferred first (see [`rungs`]).
    ///
    /// Errors: `total` requests cannot have this mean within 0.4 %; `keys` are the row's names of the mean and of the
    /// list.
    pub fn candidates(
        spec: &TwinSizes,
        keys: [&str; 2],
        total: u64,
        room_bytes: f64,
    ) -> Result<Vec<SizeCounts>, Illegal> {
        let target = spec.mean_bytes();
        let (key, mut candidates) = match spec {
            TwinSizes::Mean(_) => {
                let ladders = rungs(target, room_bytes);
                (keys[0], ladders.iter().map(|(unit, rungs)| ladder(*unit, rungs, target, total)).collect())
            }
            TwinSizes::Listed(list) => (keys[1], vec![listed(list, total)]),
        };
        let made = |counts: &SizeCounts| counts.volume_bytes() / total as f64;
        let nearest = candidates.first().map_or(0.0, made);
        candidates.retain(|counts| (made(counts) / target - 1.0).abs() <= TOLERANCE);
        if candidates.is_empty() {
            let legal = format!(
                "sizes that {total} requests can have in these shares (as near as whole requests come: a mean \
                 of {nearest:.0}B); more requests help"
            );
            return Err(Illegal::new(key, format!("a mean of {target:.0}B"), legal));
        }
        Ok(candidates)
    }

    fn of(counts: impl Iterator<Item = (u32, u64)>) -> SizeCounts {
        SizeCounts { by_size: counts.filter(|&(_, count)| count > 0).collect() }
    }

    pub fn volume_bytes(&self) -> f64 {
        self.by_size.iter().map(|&(s, n)| f64::from(s) * SECTOR.get() as f64 * n as f64).sum()
    }

    pub fn largest(&self) -> u32 {
        self.by_size.last().map_or(0, |&(sectors, _)| sectors)
    }
}

/// Whole parts of `total` in the ratio of `weights`, which sum to `total`: those with the largest remainders are
/// rounded up, ties in order.
fn apportion(weights: &[f64], total: u64) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let exact: Vec<f64> = weights.iter().map(|weight| weight / sum * total as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|&e| e as u64).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| (exact[b] - exact[b].trunc()).total_cmp(&(exact[a] - exact[a].trunc())));
    let missing = total.saturating_sub(counts.iter().sum());
    for &index in order.iter().cycle().take(missing as usize) {
        counts[index] += 1;
    }
    counts
}

fn listed(list: &[(Bytes, f64)], total: u64) -> SizeCounts {
    let mut list: Vec<(u32, f64)> =
        list.iter().map(|&(size, weight)| ((size.get() / SECTOR.get()) as u32, weight)).collect();
    list.sort_by_key(|&(sectors, _)| sectors);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    let weights: Vec<f64> = list.iter().map(|&(_, weight)| weight).collect();
    let sizes: Vec<u32> = list.iter().map(|&(sectors, _)| sectors).collect();
    let mut counts = apportion(&weights, total);
    let mean =
        sizes.iter().zip(&weights).map(|(&s, w)| f64::from(s) * w).sum::<f64>() / weights.iter().sum::<f64>();
    settle_at(&sizes, &mut counts, mean, total);
    SizeCounts::of(sizes.into_iter().zip(counts))
}

/// Candidate ladders of sizes for a mean, the preferred first: a unit in sectors, and the rungs in units.
///
/// The widest ladder extends from one unit to eight times the first power of two that reaches the mean; narrower ones
/// end at four times, twice or once this power. The top has to be small against `room_bytes`. Further candidates: the
/// two multiples of the unit next to the mean; these with the unit itself, which fills small remaining volumes; and
/// the two multiples of 512 B next to the mean.
fn rungs(mean_bytes: f64, room_bytes: f64) -> Vec<(u32, Vec<u32>)> {
    let unit = if mean_bytes >= f64::from(PAGE_SECTORS) * SECTOR.get() as f64 { PAGE_SECTORS } else { 1 };
    let unit_bytes = f64::from(unit) * SECTOR.get() as f64;
    let mean = mean_bytes / unit_bytes;
    let mut reach = 0u32;
    while f64::from(1u32 << reach) < mean {
        reach += 1;
    }
    let small = |&top: &u32| f64::from(1u32 << top) * unit_bytes <= room_bytes / 64.0;
    let wide = (reach..=reach + 3).rev().filter(small).filter(|_| mean > 1.0);
    let mut ladders: Vec<(u32, Vec<u32>)> =
        wide.map(|top| (unit, (0..=top).map(|k| 1 << k).collect())).collect();
    let below = mean as u32;
    ladders.push((unit, vec![below, below + 1]));
    if below >= 2 {
        ladders.push((unit, vec![1, below, below + 1]));
    }
    if unit > 1 {
        let below = (mean * f64::from(unit)) as u32;
        ladders.push((1, vec![below, below + 1]));
    }
    ladders
}

/// Counts of the rungs that sum to `total`, with the nearest possible mean to `mean_bytes`.
fn ladder(unit: u32, rungs: &[u32], mean_bytes: f64, total: u64) -> SizeCounts {
    let mean = (mean_bytes / (f64::from(unit) * SECTOR.get() as f64)).max(1.0);
    let mut counts = apportion(&geometric(rungs, mean), total);
    settle_at(rungs, &mut counts, mean, total);
    SizeCounts::of(rungs.iter().map(|&u| u * unit).zip(counts))
}

/// Weights r^k of the rungs k = 0, 1, ... whose mean is `mean`.
fn geometric(units: &[u32], mean: f64) -> Vec<f64> {
    let weights = |share: f64| {
        // r = share / (1 - share), without a division by zero at share 1.
        let last = units.len() as i32 - 1;
        let power = |base: f64, exponent: i32| (0..exponent).fold(1.0, |product, _| product * base);
        (0..=last).map(|k| power(share, k) * power(1.0 - share, last - k)).collect::<Vec<f64>>()
    };
    let mean_of = |weights: &[f64]| {
        let sum: f64 = weights.iter().sum();
        units.iter().zip(weights).map(|(&u, w)| f64::from(u) * w).sum::<f64>() / sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if mean_of(&weights(middle)) < mean { low = middle } else { high = middle }
    }
    weights(0.5 * (low + high))
}

/// Moves single requests between sizes until the mean is as close as possible to `mean`.
fn settle_at(units: &[u32], counts: &mut [u64], mean: f64, total: u64) {
    let have: i64 = units.iter().zip(&*counts).map(|(&u, &n)| i64::from(u) * n as i64).sum();
    settle(units, counts, libm::round(mean * total as f64) as i64 - have);
}

/// Moves single requests from rung to rung until `missing` units of volume are compensated.
fn settle(units: &[u32], counts: &mut [u64], mut missing: i64) {
    while missing != 0 {
        let steps = (1..units.len()).rev().map(|k| (k, i64::from(units[k] - units[k - 1])));
        let step = steps.filter(|&(_, step)| step <= missing.abs()).find(|&(k, _)| {
            let from = if missing > 0 { k - 1 } else { k };
            counts[from] > 0
        });
        let Some((k, step)) = step else { return };
        let (from, to) = if missing > 0 { (k - 1, k) } else { (k, k - 1) };
        counts[from] -= 1;
        counts[to] += 1;
        missing -= missing.signum() * step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(mean: f64, total: u64, room: f64) -> SizeCounts {
        candidates(mean, total, room).remove(0)
    }

    fn candidates(mean: f64, total: u64, room: f64) -> Vec<SizeCounts> {
        SizeCounts::candidates(&TwinSizes::Mean(mean), ["m", "l"], total, room).ok().expect("a legal mean")
    }

    #[test]
    fn a_mean_is_matched_to_half_a_unit_of_volume() {
        for total in [200, 20_000, 1_000_001] {
            for mean_kib in [4.0, 4.01, 6.5, 11.61, 44.58, 88.26, 257.3] {
                for room in [1e12, 1e7, 1e5] {
                    for counts in candidates(mean_kib * 1024.0, total, room) {
                        assert_eq!(counts.by_size.iter().map(|&(_, n)| n).sum::<u64>(), total);
                        let missed = counts.volume_bytes() - mean_kib * 1024.0 * total as f64;
                        assert!(missed.abs() <= 2048.0, "{mean_kib} KiB, {total}, {room}: {missed} B missed");
                    }
                    assert!(made(mean_kib * 1024.0, total, room).by_size.iter().all(|&(s, _)| s % 8 == 0));
                }
            }
            for mean in [512.0, 700.0, 3500.0] {
                let missed = made(mean, total, 1e12).volume_bytes() - mean * total as f64;
                assert!(missed.abs() <= 256.0, "{mean} B, {total}: {missed} B missed");
            }
        }
    }

    #[test]
    fn little_room_narrows_the_ladder() {
        let sizes =
            |room| made(11.61 * 1024.0, 10_000, room).by_size.iter().map(|&(s, _)| s).collect::<Vec<_>>();
        assert_eq!(sizes(1e12), [8, 16, 32, 64, 128, 256]);
        assert_eq!(sizes(64.0 * 16384.0), [8, 16, 32]);
        assert_eq!(sizes(1e5), [16, 24]);
    }

    #[test]
    fn shares_are_rounded_by_largest_remainder() {
        assert_eq!(apportion(&[1.0, 1.0, 1.0], 11), [4, 4, 3]);
        assert_eq!(apportion(&[0.5, 0.3, 0.2], 7), [4, 2, 1]);
        let listed = TwinSizes::Listed(vec![(Bytes(8192), 1.0), (Bytes(512), 2.0), (Bytes(8192), 1.0)]);
        let candidates = SizeCounts::candidates(&listed, ["m", "l"], 1000, 1e9).ok().expect("legal");
        assert_eq!(candidates, [SizeCounts { by_size: vec![(1, 500), (16, 500)] }]);
    }
}
