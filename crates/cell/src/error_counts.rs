//! From the bit errors of pages to the rates of an error table: the one way in which the cell model makes tables.

use interpulse_flash::errors::{ErrorTable, MOST_RBER};

/// Errors of a page below which chance outweighs the difference between pages.
const ENOUGH: f64 = 40.0;

/// Fills a table that has everything but its rates and their spread. `counts` has the errors of the pages of every entry, in
/// the order of [`ErrorTable::index`]; a page has `bits` bits.
///
/// Panics if the counts do not fill the axes.
pub fn filled(axes: ErrorTable, bits: u32, counts: &[Vec<u64>]) -> ErrorTable {
    assert_eq!(counts.len(), axes.entries(), "counts for all entries");
    assert!(counts.iter().all(|pages| !pages.is_empty()), "pages for all entries");
    let spread = spread(counts);
    let rate = |pages: &Vec<u64>| {
        // Half an error more, so that no rate is zero because the sample was small; and from the mean to the geometric mean,
        // which the table has.
        let mean = (pages.iter().sum::<u64>() as f64 + 0.5) / (pages.len() as f64 * f64::from(bits));
        (mean * libm::exp(-0.5 * spread * spread)).min(MOST_RBER)
    };
    ErrorTable { rber: counts.iter().map(rate).collect(), spread_ln_sd: spread, ..axes }
}

/// Standard deviation of the logarithm of the error rate between the pages of one entry: what their counts differ by beyond
/// chance (a count's relative variance is one over it), over all entries with enough errors.
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
    fn differences_between_pages_are_told_from_chance() {
        // Pages of 900 and 1100 errors: a relative deviation of 0.1414, less chance.
        assert!((spread(&[vec![900, 1100]]) - libm::sqrt(libm::log1p(0.02 - 0.001))).abs() < 1e-12);
        // 990 and 1010 differ by less than chance, and few errors say nothing.
        assert_eq!(spread(&[vec![990, 1010]]), 0.0);
        assert_eq!(spread(&[vec![1, 9]]), 0.0);
    }

    #[test]
    fn rates_are_geometric_means_with_half_an_error_more() {
        let table = filled(ErrorTable::ideal(2), 10_000, &[vec![900, 1100], vec![0, 0]]);
        let to_geometric = libm::exp(-0.5 * table.spread_ln_sd * table.spread_ln_sd);
        assert!((table.rber[0] / (0.100_025 * to_geometric) - 1.0).abs() < 1e-12);
        assert!((table.rber[1] / (0.000_025 * to_geometric) - 1.0).abs() < 1e-12);
        assert!(table.spread_ln_sd > 0.1);
    }
}
