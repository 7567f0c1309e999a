//! `weighted` request size: drawn from a list of sizes, multiples of 512 B, with weights.

use super::{Distribution, Draw, sectors, within};
use crate::error::Illegal;
use interpulse_engine::{Bytes, Rng, SECTOR};
use interpulse_settings::{ConfigError, Section, required};

/// Sizes (each as for `fixed`) with weights (above 0; only their ratios matter), at least one.
pub type Weighted = Vec<(Bytes, f64)>;

/// Sizes with the largest (inclusive) draw that selects each; the last bound is 2^64 - 1.
pub(super) struct Running {
    rng: Rng,
    sizes: Box<[(u64, u32)]>,
}

impl Distribution for Weighted {
    fn read(s: &mut Section) -> Result<Weighted, ConfigError> {
        let sizes = s.list_bytes("sizes", "request sizes", None, within(required()))?;
        let weight = required().positive().at_most(1e9);
        let weights = s.list_f64("size-weights", "their weights", None, weight)?;
        let paired = sizes.len() == weights.len() && !sizes.is_empty();
        let message = "there must be one weight for each size";
        s.check_together(paired, &["size-weights", "sizes"], message)?;
        let whole = sizes.iter().all(|size| size.get().is_multiple_of(SECTOR.get()));
        s.check(whole, "sizes", "multiples of 512B")?;
        Ok(sizes.into_iter().zip(weights).collect())
    }

    fn instantiate(&self, rng: Rng) -> Result<super::Running, Illegal> {
        Illegal::unless(!self.is_empty(), "block_size", "an empty list", "at least one (size, weight)")?;
        let mut total = 0.0;
        for (i, &(_, weight)) in self.iter().enumerate() {
            let field = format!("block_size[{i}].weight");
            Illegal::unless(weight > 0.0 && weight <= 1e15, field, weight, "above 0 and up to 1e15")?;
            total += weight;
        }
        let mut below = 0.0;
        let mut sizes = Vec::with_capacity(self.len());
        for (i, &(size, weight)) in self.iter().enumerate() {
            below += weight;
            let size = sectors(&format!("block_size[{i}].size"), size)?;
            sizes.push((Rng::threshold(below / total), size));
        }
        // Rounding must not leave draws above the last bound.
        sizes.last_mut().expect("the list is not empty").0 = u64::MAX;
        Ok(super::Running::Weighted(Running { rng, sizes: sizes.into() }))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self) -> u32 {
        let draw = self.rng.next_u64();
        let index = self.sizes.iter().position(|&(bound, _)| draw <= bound);
        self.sizes[index.expect("the last bound is the largest draw")].1
    }

    fn largest(&self) -> u32 {
        self.sizes.iter().map(|&(_, sectors)| sectors).max().expect("the list is not empty")
    }
}
