//! Costs of small writes in RAID-5 and RAID-6: one or two parity chunks over `d` data chunks, of which `k` change.

use crate::domain::{OutOfDomain, at_least_one, positive, require};

/// Chunk operations of one stripe update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeCost {
    /// Chunks read for the parity computation.
    pub reads: u32,
    /// Chunks written, the parity included.
    pub writes: u32,
}

/// Checks `1 <= changed <= data`.
fn check(data: u32, changed: u32) -> Result<(), OutOfDomain> {
    at_least_one("data", data)?;
    let legal = (1..=data).contains(&changed);
    require(legal, "changed", f64::from(changed), "between 1 and the number of data chunks").map(|_| ())
}

/// Read-modify-write reads the old changed chunks and the old parity: `k + 1` reads and writes.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn read_modify_write(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    check(data, changed)?;
    Ok(StripeCost { reads: changed + 1, writes: changed + 1 })
}

/// Reconstruct-write reads the unchanged chunks: `d - k` reads and `k + 1` writes; none for a full stripe.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn reconstruct_write(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    check(data, changed)?;
    Ok(StripeCost { reads: data - changed, writes: changed + 1 })
}

/// The cheaper of both: reconstruct-write if `k > (d - 1) / 2`, otherwise read-modify-write.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn cheapest(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    let (modify, reconstruct) = (read_modify_write(data, changed)?, reconstruct_write(data, changed)?);
    Ok(if reconstruct.reads < modify.reads { reconstruct } else { modify })
}

/// The cheaper of both for RAID-6: read-modify-write takes `k + 2` reads, reconstruct-write `d - k`, and both
/// `k + 2` writes.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn cheapest_with_two(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    check(data, changed)?;
    Ok(StripeCost { reads: (changed + 2).min(data - changed), writes: changed + 2 })
}

/// Parity writes per data write when a parity write covers `mean_changed` data writes on average: `1 / k`.
///
/// From 1 (no merging) down to `1 / d` (full stripes).
///
/// # Errors
/// [`OutOfDomain`] unless `mean_changed` is at least 1 and finite.
pub fn parity_per_data_write(mean_changed: f64) -> Result<f64, OutOfDomain> {
    positive("mean_changed", mean_changed)?;
    Ok(1.0 / require(mean_changed >= 1.0, "mean_changed", mean_changed, "at least 1")?)
}
