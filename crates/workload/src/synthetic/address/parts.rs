//! `parts` address pattern: parts of the region, in order, each with its share of the requests and uniform inside, as in
//! fio's `random_distribution=zoned`.

use super::{Draw, Pattern, Region};
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};
use interpulse_settings::{keys, required};

keys! {
    /// Parts of the region with their shares of the requests.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Parts, pub(super) fn read(s) {
        /// weights of the sizes of the parts; each part has its share of the region
        pub part_sizes: Vec<f64> = list_f64(None, required().positive().at_most(1e9)),
        /// weights of the requests to the parts
        pub part_traffic: Vec<f64> = list_f64(None, required().at_least(0.0).at_most(1e9)),
    } check {
        let paired = part_sizes.len() == part_traffic.len() && !part_sizes.is_empty();
        s.check_together(paired, &["part-traffic", "part-sizes"], "there must be one weight of requests for each part")?;
        // The weight of a single part decides nothing.
        let some = part_traffic.len() == 1 || part_traffic.iter().any(|&weight| weight > 0.0);
        s.check(some, "part-traffic", "at least one weight above 0")?;
    }
}

/// Parts with the largest (inclusive) draw that selects each, first position and number of positions.
pub(super) struct Running(Box<[(u64, u64, u64)]>);

impl Pattern for Parts {
    fn instantiate(&self, region: &Region, _: u64) -> Result<super::Running, Illegal> {
        let weights = if self.part_traffic.len() == 1 { &[1.0] } else { self.part_traffic.as_slice() };
        let (sizes, traffic): (f64, f64) = (self.part_sizes.iter().sum(), weights.iter().sum());
        let paired = self.part_sizes.len() == weights.len() && sizes > 0.0 && traffic > 0.0;
        Illegal::unless(paired, "part_sizes", self.part_sizes.len(), "as many as `part_traffic`, above 0")?;
        let (mut size, mut weight, mut first) = (0.0, 0.0, 0);
        let mut parts: Vec<(u64, u64, u64)> = Vec::with_capacity(self.part_sizes.len());
        for (&of_size, &of_traffic) in self.part_sizes.iter().zip(weights) {
            size += of_size;
            weight += of_traffic;
            let end = (libm::round(region.positions as f64 * (size / sizes)) as u64).min(region.positions);
            let legal = format!("parts that have some of the {} positions each", region.positions);
            Illegal::unless(end > first || of_traffic == 0.0, "part_sizes", of_size, legal)?;
            if of_traffic > 0.0 {
                parts.push((Rng::threshold((weight / traffic).min(1.0)), first, end - first));
            }
            first = end;
        }
        // Rounding must not leave draws above the last bound.
        parts.last_mut().expect("some part has requests").0 = u64::MAX;
        Ok(super::Running::Parts(Running(parts.into())))
    }
}

impl Draw for Running {
    #[inline]
    fn next(&mut self, region: &Region, rng: &mut Rng, _: Op, _: u32) -> u64 {
        let draw = rng.next_u64();
        let part = self.0.iter().find(|(bound, ..)| draw <= *bound);
        let &(_, first, positions) = part.expect("the last bound is the largest draw");
        (first + rng.below(positions)) * region.alignment
    }
}
