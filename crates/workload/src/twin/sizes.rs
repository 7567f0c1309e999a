//! How many requests of each size a twin has.
//!
//! Counts are whole numbers with exact sums, never draws. A list of sizes with weights gets its shares by
//! largest remainder. A mean alone becomes a ladder of sizes, each twice the one before, whose counts fall
//! (or rise) geometrically and whose volume is the mean times the number of requests to within half a rung's
//! unit: 4 KiB, or 512 B for a mean below that.

use crate::error::Illegal;
use crate::request::SECTOR;
use interpulse_engine::Bytes;

/// Sectors of 4 KiB.
const PAGE_SECTORS: u32 = 8;

/// What a row says about the sizes of its reads or of its writes.
#[derive(Clone, PartialEq, Debug)]
pub enum TwinSizes {
    /// Their mean in bytes; the sizes are made up.
    Mean(f64),
    /// Sizes with weights, of which only the ratios matter.
    Listed(Vec<(Bytes, f64)>),
}

impl TwinSizes {
    /// The mean that the row asks for, in bytes.
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

/// Requests of one kind, by size.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SizeCounts {
    /// Size in sectors, ascending, and how many requests have it (at least one).
    pub by_size: Vec<(u32, u64)>,
}

impl SizeCounts {
    /// The sizes of `total` requests. Made-up sizes stay small against `room_bytes`, where that is possible.
    ///
    /// Errors: `total` requests cannot have this mean within 1 %; `keys` are the row's names of the mean and
    /// of the list.
    pub fn new(
        spec: &TwinSizes,
        keys: [&str; 2],
        total: u64,
        room_bytes: f64,
    ) -> Result<SizeCounts, Illegal> {
        let (key, mut by_size) = match spec {
            TwinSizes::Mean(mean) => (keys[0], ladder(*mean, total, room_bytes)),
            TwinSizes::Listed(list) => {
                let mut list: Vec<(u32, f64)> =
                    list.iter().map(|&(size, weight)| ((size.get() / SECTOR.get()) as u32, weight)).collect();
                list.sort_by_key(|&(sectors, _)| sectors);
                list.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 += if same { next.1 } else { 0.0 };
                    same
                });
                let weights: Vec<f64> = list.iter().map(|&(_, weight)| weight).collect();
                let counts = apportion(&weights, total);
                (keys[1], list.iter().map(|&(sectors, _)| sectors).zip(counts).collect())
            }
        };
        by_size.retain(|&(_, count)| count > 0);
        let counts = SizeCounts { by_size };
        let (asked, made) = (spec.mean_bytes(), counts.volume_bytes() / total as f64);
        if total > 0 && (made / asked - 1.0).abs() > 0.01 {
            let legal = format!(
                "sizes that {total} requests can have in these shares (as near as whole requests come: a mean \
                 of {made:.0}B); more requests help"
            );
            return Err(Illegal::new(key, format!("a mean of {asked:.0}B"), legal));
        }
        Ok(counts)
    }

    pub fn volume_bytes(&self) -> f64 {
        self.by_size.iter().map(|&(s, n)| f64::from(s) * SECTOR.get() as f64 * n as f64).sum()
    }

    pub fn largest(&self) -> u32 {
        self.by_size.last().map_or(0, |&(sectors, _)| sectors)
    }
}

/// Whole parts of `total` in the ratio of `weights`, which sum to `total`: those with the largest remainders
/// are rounded up, earlier ones first among equals.
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

/// Sizes in sectors with counts that sum to `total`, their mean as near to `mean_bytes` as whole requests
/// come.
///
/// Wide where there is room: from one unit to eight to sixteen times the mean. Where that is much against
/// `room_bytes` the ladder ends at the mean's own rung, and at last has only the two multiples of the unit
/// next to the mean.
fn ladder(mean_bytes: f64, total: u64, room_bytes: f64) -> Vec<(u32, u64)> {
    let unit = if mean_bytes >= f64::from(PAGE_SECTORS) * SECTOR.get() as f64 { PAGE_SECTORS } else { 1 };
    let unit_bytes = f64::from(unit) * SECTOR.get() as f64;
    let mean = (mean_bytes / unit_bytes).max(1.0);
    let mut rungs = 0u32;
    while f64::from(1u32 << rungs) < mean {
        rungs += 1;
    }
    let top_bytes = |rungs: u32| f64::from(1u32 << rungs) * unit_bytes;
    let spread = (1..=3).rev().find(|more| top_bytes(rungs + more) <= room_bytes / 64.0);
    let units: Vec<u32> = match spread {
        Some(more) if mean > 1.0 => (0..=rungs + more).map(|k| 1 << k).collect(),
        _ if mean > 1.0 && top_bytes(rungs) <= room_bytes / 64.0 => (0..=rungs).map(|k| 1 << k).collect(),
        _ => vec![mean as u32, mean as u32 + 1],
    };
    let mut counts = apportion(&geometric(&units, mean), total);
    let have: i64 = units.iter().zip(&counts).map(|(&u, &n)| i64::from(u) * n as i64).sum();
    settle(&units, &mut counts, libm::round(mean * total as f64) as i64 - have);
    units.iter().map(|&u| u * unit).zip(counts).collect()
}

/// Weights r^k of the rungs k = 0, 1, ... whose mean is `mean`.
fn geometric(units: &[u32], mean: f64) -> Vec<f64> {
    let weights = |share: f64| {
        // r = share / (1 - share), without the division that fails at the top.
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

/// Moves single requests from rung to rung until `missing` units of volume are made up for.
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
        SizeCounts::new(&TwinSizes::Mean(mean), ["m", "l"], total, room).ok().expect("a legal mean")
    }

    #[test]
    fn a_mean_is_met_to_half_a_unit_of_volume() {
        for total in [200, 20_000, 1_000_001] {
            for mean_kib in [4.0, 4.01, 6.28, 11.61, 44.58, 88.26, 257.3] {
                for room in [1e12, 1e7, 1e5] {
                    let counts = made(mean_kib * 1024.0, total, room);
                    assert_eq!(counts.by_size.iter().map(|&(_, n)| n).sum::<u64>(), total);
                    let missed = counts.volume_bytes() - mean_kib * 1024.0 * total as f64;
                    assert!(missed.abs() <= 2048.0, "{mean_kib} KiB, {total}, {room}: {missed} B missed");
                    assert!(counts.by_size.iter().all(|&(s, _)| s % 8 == 0));
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
        let counts = SizeCounts::new(&listed, ["m", "l"], 1000, 1e9).ok().expect("legal");
        assert_eq!(counts.by_size, [(1, 500), (16, 500)]);
    }
}
