//! The part of the drive that requests go to.

use crate::error::Illegal;
use interpulse_engine::{Bytes, SECTOR};
use std::ops::Range;

/// Where requests may go.
pub(super) struct Region {
    /// First sector.
    pub base: u64,
    /// Sectors.
    pub length: u64,
    /// Sectors from one place to the next.
    pub alignment: u64,
    /// Places at which the largest request still fits.
    pub places: u64,
}

impl Region {
    /// The part `share` of a drive of so many sectors, of which requests start at multiples of `alignment`.
    pub(super) fn new(
        share: Range<f64>,
        alignment: Bytes,
        capacity_sectors: u64,
        largest_sectors: u32,
    ) -> Result<Region, Illegal> {
        let Range { start: from, end: to } = share;
        if !alignment.get().is_multiple_of(SECTOR.get()) || alignment == Bytes(0) {
            return Err(Illegal::new("alignment", alignment, "a multiple of 512B, at least 512B"));
        }
        let alignment = alignment.get() / SECTOR.get();
        if !(0.0..1.0).contains(&from) {
            return Err(Illegal::new("from", from, "a fraction of the capacity, 0 to below 1"));
        }
        let legal = format!("a fraction of the capacity, above `from` ({from}) and up to 1");
        Illegal::unless(to > from && to <= 1.0, "to", to, legal)?;
        let at = |fraction: f64| ((capacity_sectors as f64 * fraction) as u64).min(capacity_sectors);
        let base = at(from).next_multiple_of(alignment);
        let end = at(to) / alignment * alignment;
        let length = end.saturating_sub(base);
        if length < u64::from(largest_sectors) {
            let found = format!("a region of {length} aligned sectors on this drive");
            let legal = format!("room for the largest request, {largest_sectors} sectors");
            return Err(Illegal::new("from..to", found, legal));
        }
        let places = (length - u64::from(largest_sectors)) / alignment + 1;
        Ok(Region { base, length, alignment, places })
    }
}
