//! How large the next request is.

use super::spec::BlockSize;
use crate::error::Illegal;
use crate::trace::row::REQUEST_SECTORS_MAX;
use interpulse_engine::{Bytes, Rng, SECTOR};

/// Draws sizes in sectors.
pub(super) enum Sizes {
    Fixed(u32),
    /// Sizes with the (inclusive) largest draw that selects them; the last bound is 2^64 - 1.
    Weighted {
        rng: Rng,
        sizes: Box<[(u64, u32)]>,
    },
}

impl Sizes {
    pub(super) fn new(spec: &BlockSize, rng: Rng) -> Result<Sizes, Illegal> {
        match spec {
            BlockSize::Fixed(size) => Ok(Sizes::Fixed(sectors("block_size", *size)?)),
            BlockSize::Weighted(list) => {
                if list.is_empty() {
                    return Err(Illegal::new("block_size", "an empty list", "at least one (size, weight)"));
                }
                let mut total = 0.0;
                for (i, &(_, weight)) in list.iter().enumerate() {
                    if !(weight > 0.0 && weight <= 1e15) {
                        return Err(Illegal::new(
                            format!("block_size[{i}].weight"),
                            weight,
                            "above 0 and up to 1e15",
                        ));
                    }
                    total += weight;
                }
                let mut below = 0.0;
                let mut sizes = Vec::with_capacity(list.len());
                for (i, &(size, weight)) in list.iter().enumerate() {
                    below += weight;
                    sizes.push((
                        Rng::threshold(below / total),
                        sectors(&format!("block_size[{i}].size"), size)?,
                    ));
                }
                // Rounding must not leave draws above the last bound.
                sizes.last_mut().expect("the list is not empty").0 = u64::MAX;
                Ok(Sizes::Weighted { rng, sizes: sizes.into() })
            }
        }
    }

    /// The size of the next request in sectors.
    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        match self {
            Sizes::Fixed(sectors) => *sectors,
            Sizes::Weighted { rng, sizes } => {
                let draw = rng.next_u64();
                let index = sizes.iter().position(|&(bound, _)| draw <= bound);
                sizes[index.expect("the last bound is the largest draw")].1
            }
        }
    }

    /// The largest size in sectors.
    pub(super) fn largest(&self) -> u32 {
        match self {
            Sizes::Fixed(sectors) => *sectors,
            Sizes::Weighted { sizes, .. } => {
                sizes.iter().map(|&(_, sectors)| sectors).max().expect("the list is not empty")
            }
        }
    }
}

fn sectors(field: &str, size: Bytes) -> Result<u32, Illegal> {
    let sectors = size.get() / SECTOR.get();
    if !size.get().is_multiple_of(SECTOR.get()) || sectors == 0 || sectors > u64::from(REQUEST_SECTORS_MAX) {
        return Err(Illegal::new(field, size, "a multiple of 512B, up to 1GiB"));
    }
    Ok(sectors as u32)
}
