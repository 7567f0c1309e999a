//! Cost of a small write in RAID-5 and RAID-6: one or two parity chunks over `d` data chunks, of which `k` change.

use crate::domain::{OutOfDomain, at_least_one, positive, require};

/// Chunk operations of one stripe update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeCost {
    /// Chunks read before the parity can be computed.
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

/// Read-modify-write: the old values of the changed chunks and of the parity are read, `k + 1` reads and
/// writes.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn read_modify_write(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    check(data, changed)?;
    Ok(StripeCost { reads: changed + 1, writes: changed + 1 })
}

/// Reconstruct-write: the unchanged chunks are read, `d - k` reads and `k + 1` writes; a full stripe reads
/// nothing.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn reconstruct_write(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    check(data, changed)?;
    Ok(StripeCost { reads: data - changed, writes: changed + 1 })
}

/// The cheaper of the two: reconstruct-write if `k > (d - 1) / 2`, read-modify-write if it is less; on a tie they cost
/// the same.
///
/// # Errors
/// [`OutOfDomain`] unless `1 <= changed <= data`.
pub fn cheapest(data: u32, changed: u32) -> Result<StripeCost, OutOfDomain> {
    let (modify, reconstruct) = (read_modify_write(data, changed)?, reconstruct_write(data, changed)?);
    Ok(if reconstruct.reads < modify.reads { reconstruct } else { modify })
}

/// The cheaper way with two parities, RAID-6: read-modify-write takes `k + 2` reads, reconstruct-write `d - k`, and both
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
/// From 1 (nothing is merged) down to `1 / d` (full stripes).
///
/// # Errors
/// [`OutOfDomain`] unless `mean_changed` is at least 1 and finite.
pub fn parity_per_data_write(mean_changed: f64) -> Result<f64, OutOfDomain> {
    positive("mean_changed", mean_changed)?;
    Ok(1.0 / require(mean_changed >= 1.0, "mean_changed", mean_changed, "at least 1")?)
}
