//! Power-law distribution of updates over ranked extents, in whole numbers.

/// Distributes `updates` over `extents` extents, in proportion to r^-`exponent` for rank r (from 1): pairs of the
/// number of extents, most updated first, and updates of each.
pub(super) fn zipf_counts(extents: u64, updates: u64, exponent: f64) -> Vec<(u64, u64)> {
    if extents == 0 {
        return Vec::new();
    }
    // Largest scale at which the counts rounded down do not exceed the total.
    let (mut low, mut high) = (0.0, updates as f64 + 1.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if sum(&rounded_down(extents, middle, exponent)) <= updates { low = middle } else { high = middle }
    }
    let mut counts = rounded_down(extents, low, exponent);
    // The rounding remainder is distributed evenly over the least updated extents.
    let left = updates - sum(&counts);
    if left > 0 {
        let (least, each) = counts.pop().expect("there is an extent");
        let (all, more) = (left / least, left % least);
        for (extents, updates) in [(more, each + all + 1), (least - more, each + all)] {
            if extents > 0 {
                counts.push((extents, updates));
            }
        }
    }
    counts
}

fn sum(counts: &[(u64, u64)]) -> u64 {
    counts.iter().map(|&(extents, updates)| extents * updates).sum()
}

/// Counts floor(scale * r^-exponent) of all ranks, grouped by equal value.
fn rounded_down(extents: u64, scale: f64, exponent: f64) -> Vec<(u64, u64)> {
    let count = |rank: u64| (scale * libm::pow(rank as f64, -exponent)) as u64;
    let mut counts: Vec<(u64, u64)> = Vec::new();
    let mut rank = 1;
    while rank <= extents {
        let updates = count(rank);
        // Last rank with this count, by bisection because low counts have many ranks.
        let (mut same, mut fewer) = (rank, extents + 1);
        let mut step = 1;
        while same + step <= extents && count(same + step) == updates {
            same += step;
            step *= 2;
        }
        fewer = fewer.min(same + step);
        while fewer - same > 1 {
            let middle = same + (fewer - same) / 2;
            if count(middle) == updates { same = middle } else { fewer = middle }
        }
        counts.push((same - rank + 1, updates));
        rank = same + 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_those_of_the_law_and_none_is_lost() {
        for (extents, updates, exponent) in [
            (1, 7, 1.0),
            (10, 0, 1.0),
            (1000, 9_000, 0.0),
            (1000, 9_999, 0.8),
            (200_000, 1_500_000, 0.85),
            (50, 7, 3.0),
        ] {
            let counts = zipf_counts(extents, updates, exponent);
            assert_eq!(counts.iter().map(|c| c.0).sum::<u64>(), extents);
            assert_eq!(sum(&counts), updates);
            assert!(counts.windows(2).all(|w| w[0].1 >= w[1].1), "{counts:?}");
        }
        // Rank 1 against rank 100 of a power 0.8: 39.8.
        let counts = zipf_counts(200_000, 2_000_000, 0.8);
        let of = |rank: u64| {
            let mut before = 0;
            counts
                .iter()
                .find(|c| {
                    before += c.0;
                    before >= rank
                })
                .expect("a rank")
                .1 as f64
        };
        assert!((of(1) / of(100) / 39.81 - 1.0).abs() < 0.01, "{} {}", of(1), of(100));
        assert!(counts.len() < 2_000, "{} groups", counts.len());
    }
}
