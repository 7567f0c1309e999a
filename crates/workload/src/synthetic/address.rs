//! Where the next request goes.

use super::permute::Permutation;
use super::spec::{AddressSpec, SyntheticSpec};
use super::zipf::Zipf;
use crate::error::Illegal;
use interpulse_engine::{Rng, SECTOR};

/// Draws start sectors so that every request lies wholly inside the region.
pub(super) struct Addresses {
    rng: Rng,
    pattern: Pattern,
    /// First sector of the region.
    base: u64,
    /// Sectors from one place to the next.
    alignment: u64,
    /// Places at which the largest request still fits.
    places: u64,
}

enum Pattern {
    /// Offset of the next request and length of the region, in sectors.
    Sequential {
        next: u64,
        length: u64,
    },
    Uniform,
    Zipf(Box<(Zipf, Permutation)>),
    HotCold {
        hot_places: u64,
        hot_below: u64,
    },
}

impl Addresses {
    pub(super) fn new(
        spec: &SyntheticSpec,
        capacity_sectors: u64,
        largest_sectors: u32,
        rng: Rng,
        permutation_key: u64,
    ) -> Result<Addresses, Illegal> {
        let alignment = spec.alignment.get() / SECTOR.get();
        if !spec.alignment.get().is_multiple_of(SECTOR.get()) || alignment == 0 {
            return Err(Illegal::new("alignment", spec.alignment, "a multiple of 512B, at least 512B"));
        }
        if !(0.0..1.0).contains(&spec.from) {
            return Err(Illegal::new("from", spec.from, "a fraction of the capacity, 0 to below 1"));
        }
        if !(spec.to > spec.from && spec.to <= 1.0) {
            let legal = format!("a fraction of the capacity, above `from` ({}) and up to 1", spec.from);
            return Err(Illegal::new("to", spec.to, legal));
        }
        let at = |fraction: f64| ((capacity_sectors as f64 * fraction) as u64).min(capacity_sectors);
        let base = at(spec.from).next_multiple_of(alignment);
        let end = at(spec.to) / alignment * alignment;
        let length = end.saturating_sub(base);
        if length < u64::from(largest_sectors) {
            let found = format!("a region of {length} aligned sectors on this drive");
            let legal = format!("room for the largest request, {largest_sectors} sectors");
            return Err(Illegal::new("from..to", found, legal));
        }
        let places = (length - u64::from(largest_sectors)) / alignment + 1;
        let pattern = match spec.addresses {
            AddressSpec::Sequential => Pattern::Sequential { next: 0, length },
            AddressSpec::Uniform => Pattern::Uniform,
            AddressSpec::Zipf { exponent } => {
                if !(exponent > 0.0 && exponent <= 10.0) {
                    return Err(Illegal::new("exponent", exponent, "above 0 and up to 10"));
                }
                Pattern::Zipf(Box::new((
                    Zipf::new(places, exponent),
                    Permutation::new(places, permutation_key),
                )))
            }
            AddressSpec::HotCold { hot_share, hot_traffic } => {
                if !(hot_share > 0.0 && hot_share < 1.0) {
                    return Err(Illegal::new("hot_share", hot_share, "above 0 and below 1"));
                }
                if !(0.0..=1.0).contains(&hot_traffic) {
                    return Err(Illegal::new("hot_traffic", hot_traffic, "0 to 1"));
                }
                let hot_places = libm::round(places as f64 * hot_share) as u64;
                if hot_places == 0 || hot_places >= places {
                    let legal = format!("a share that leaves both parts some of the {places} places");
                    return Err(Illegal::new("hot_share", hot_share, legal));
                }
                Pattern::HotCold { hot_places, hot_below: Rng::threshold(hot_traffic) }
            }
        };
        Ok(Addresses { rng, pattern, base, alignment, places })
    }

    /// The first sector of a request of `sectors`.
    #[inline]
    pub(super) fn next(&mut self, sectors: u32) -> u64 {
        let place = match &mut self.pattern {
            Pattern::Uniform => self.rng.below(self.places),
            Pattern::Sequential { next, length } => {
                let offset = if *next + u64::from(sectors) > *length { 0 } else { *next };
                *next = (offset + u64::from(sectors)).next_multiple_of(self.alignment);
                return self.base + offset;
            }
            Pattern::Zipf(zipf) => zipf.1.apply(zipf.0.next(&mut self.rng) - 1),
            Pattern::HotCold { hot_places, hot_below } => {
                if self.rng.chance(*hot_below) {
                    self.rng.below(*hot_places)
                } else {
                    *hot_places + self.rng.below(self.places - *hot_places)
                }
            }
        };
        self.base + place * self.alignment
    }
}
