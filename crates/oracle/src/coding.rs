//! Capacity gain of reprogramming by coding alone.

use crate::domain::{OutOfDomain, require, share};

/// Pages written per TLC word line and erase: `3 (1 - x) + (2 + m) x`.
///
/// A share `x` of the word lines is reprogrammable: each stores two pages first and one more per reprogram, on average `m`
/// times. The others store three. Break-even is `m = 1`; the extremes are 2 and 4 pages.
///
/// # Errors
/// [`OutOfDomain`] unless `0 <= x <= 1` and `0 <= m <= 2`.
pub fn pages_per_word_line(reprogram_share: f64, reprograms: f64) -> Result<f64, OutOfDomain> {
    let x = share("reprogram_share", reprogram_share)?;
    let m = require((0.0..=2.0).contains(&reprograms), "reprograms", reprograms, "between 0 and 2")?;
    Ok(3.0 * (1.0 - x) + (2.0 + m) * x)
}

/// [`pages_per_word_line`] relative to plain TLC: from 2/3 to 4/3, so a larger gain needs another cause.
///
/// # Errors
/// As [`pages_per_word_line`].
pub fn capacity_ratio(reprogram_share: f64, reprograms: f64) -> Result<f64, OutOfDomain> {
    Ok(pages_per_word_line(reprogram_share, reprograms)? / 3.0)
}
