//! Address region of a synthetic flow.

use crate::error::Illegal;
use interpulse_engine::{Bytes, SECTOR};
use std::ops::Range;

pub(super) struct Region {
    pub base: u64,
    pub length: u64,
    /// Distance of neighbouring positions in sectors.
    pub alignment: u64,
    /// Number of positions at which the largest request still fits.
    pub positions: u64,
}

impl Region {
    /// The part `share` of a drive with this capacity; requests start at multiples of `alignment`.
    pub(super) fn new(
        share: Range<f64>,
        alignment: Bytes,
        capacity_sectors: u64,
        largest_sectors: u32,
    ) -> Result<Region, Illegal> {
        let Range { start: from, end: to } = share;
        let whole = alignment.get().is_multiple_of(SECTOR.get()) && alignment != Bytes(0);
        Illegal::unless(whole, "alignment", alignment, "a multiple of 512B, at least 512B")?;
        let alignment = alignment.get() / SECTOR.get();
        let legal = "a fraction of the capacity, 0 to below 1";
        Illegal::unless((0.0..1.0).contains(&from), "from", from, legal)?;
        let legal = format!("a fraction of the capacity, above `from` ({from}) and up to 1");
        Illegal::unless(to > from && to <= 1.0, "to", to, legal)?;
        let at = |fraction: f64| ((capacity_sectors as f64 * fraction) as u64).min(capacity_sectors);
        let base = at(from).next_multiple_of(alignment);
        let end = at(to) / alignment * alignment;
        let length = end.saturating_sub(base);
        let found = format!("a region of {length} aligned sectors on this drive");
        let legal = format!("room for the largest request, {largest_sectors} sectors");
        Illegal::unless(length >= u64::from(largest_sectors), "from..to", found, legal)?;
        let positions = (length - u64::from(largest_sectors)) / alignment + 1;
        Ok(Region { base, length, alignment, positions })
    }
}
