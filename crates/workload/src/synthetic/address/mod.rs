//! Address patterns of synthetic flows. A pattern consists of one file with its keys and one line of the registry.

use super::region::Region;
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};
use interpulse_settings::registry;

pub use hot_cold::HotCold;
pub use normal::Normal;
pub use pareto::Pareto;
pub use parts::Parts;
pub use zipf::Zipf;

registry! {
    $ /// Address pattern inside the region.
    ///
    /// Random patterns draw among the aligned positions at which the largest block size still fits.
    #[derive(Clone, PartialEq, Debug)]
    pub enum AddressSpec, each_pattern;
    enum Running, each_running {
        "sequential" => sequential::Sequential: "consecutive addresses that wrap at the end of the region";
        "sequential-by-kind" => sequential_by_kind::SequentialByKind: "consecutive addresses, of reads, writes and trims each from the start of the region";
        "uniform" => uniform::Uniform: "every aligned position equally likely";
        "permuted" => permuted::Permuted: "every aligned position once, in random order, then again in the same order";
        "zipf" => zipf::Zipf(it): "the position of rank k has weight k^-exponent; ranks are scattered over the region";
        "hot-cold" => hot_cold::HotCold(it): "a share of the traffic goes to the first part of the region, uniform within each part";
        "parts" => parts::Parts(it): "several parts of the region with their shares of the traffic, uniform within each part";
        "pareto" => pareto::Pareto(it): "a share h of the positions gets a share 1 - h of the traffic; ranks are scattered over the region";
        "normal" => normal::Normal(it): "normally distributed ranks, which are scattered over the region";
    }
}

trait Pattern {
    /// Instantiates the pattern for a region; `key` (from the flow) selects the permutation of scattered patterns.
    fn instantiate(&self, region: &Region, key: u64) -> Result<Running, Illegal>;
}

trait Draw {
    /// Offset of a request of `sectors`, in sectors from the start of the region.
    fn next(&mut self, region: &Region, rng: &mut Rng, op: Op, sectors: u32) -> u64;
}

/// Address generator whose requests always lie inside the region.
pub(super) struct Addresses {
    rng: Rng,
    pattern: Running,
    region: Region,
}

impl Addresses {
    pub(super) fn new(spec: &AddressSpec, region: Region, rng: Rng, key: u64) -> Result<Addresses, Illegal> {
        let pattern = each_pattern!(spec, it => it.instantiate(&region, key))?;
        Ok(Addresses { rng, pattern, region })
    }

    #[inline]
    pub(super) fn next(&mut self, op: Op, sectors: u32) -> u64 {
        let Addresses { rng, pattern, region } = self;
        region.base + each_running!(pattern, it => it.next(region, rng, op, sectors))
    }
}
