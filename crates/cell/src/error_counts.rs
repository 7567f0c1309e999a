//! Rates of an error table from bit-error counts of pages.

use interpulse_flash::errors::{ErrorTable, MAX_RBER};

/// Fewest mean errors of a page for an estimate of the spread between pages.
const ENOUGH: f64 = 40.0;

/// Completes a table with rates and spread. `counts` has the errors of all pages (of `bits` bits) of every entry, in the order
/// of [`ErrorTable::index`]. Panics if the counts do not match the axes.
pub fn filled(axes: ErrorTable, bits: u32, counts: &[Vec<u64>]) -> ErrorTable {
    assert_eq!(counts.len(), axes.entries(), "counts for all entries");
    assert!(counts.iter().all(|pages| !pages.is_empty()), "pages for all entries");
    let spread = spread(counts);
    let rate = |pages: &Vec<u64>| {
        // Half an additional error avoids a rate of zero from a small sample; the table stores geometric means.
        let mean = (pages.iter().sum::<u64>() as f64 + 0.5) / (pages.len() as f64 * f64::from(bits));
        (mean * libm::exp(-0.5 * spread * spread)).min(MAX_RBER)
    };
    ErrorTable { rber: counts.iter().map(rate).collect(), spread_ln_sd: spread, ..axes }
}

/// Standard deviation of the logarithm of the error rate between pages of an entry, over all entries with enough errors: the
/// variance of the counts less their Poisson variance.
fn spread(counts: &[Vec<u64>]) -> f64 {
    let (mut sum, mut entries) = (0.0, 0u32);
    for pages in counts {
        let n = pages.len() as f64;
        let mean = pages.iter().sum::<u64>() as f64 / n;
        if pages.len() < 2 || mean < ENOUGH {
            continue;
        }
        let squares: f64 = pages.iter().map(|&e| (e as f64 - mean) * (e as f64 - mean)).sum();
        let relative = squares / (n - 1.0) / (mean * mean) - 1.0 / mean;
        sum += libm::log1p(relative.max(0.0));
        entries += 1;
    }
    if entries == 0 { 0.0 } else { libm::sqrt(sum / f64::from(entries)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_excludes_poisson_variance() {
        // Pages of 900 and 1100 errors: a relative deviation of 0.1414, less the Poisson variance.
        assert!((spread(&[vec![900, 1100]]) - libm::sqrt(libm::log1p(0.02 - 0.001))).abs() < 1e-12);
        // 990 and 1010 differ by less than the Poisson deviation; few errors are ignored.
        assert_eq!(spread(&[vec![990, 1010]]), 0.0);
        assert_eq!(spread(&[vec![1, 9]]), 0.0);
    }

    #[test]
    fn rates_are_geometric_means_with_half_an_additional_error() {
        let table = filled(ErrorTable::ideal(2), 10_000, &[vec![900, 1100], vec![0, 0]]);
        let to_geometric = libm::exp(-0.5 * table.spread_ln_sd * table.spread_ln_sd);
        assert!((table.rber[0] / (0.100_025 * to_geometric) - 1.0).abs() < 1e-12);
        assert!((table.rber[1] / (0.000_025 * to_geometric) - 1.0).abs() < 1e-12);
        assert!(table.spread_ln_sd > 0.1);
    }
}
