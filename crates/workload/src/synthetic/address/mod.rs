//! Where the next request goes. A pattern is one file here, with keys of its own if it has any, and one line of the
//! registry.

use super::region::Region;
use crate::error::Illegal;
use interpulse_engine::Rng;
use interpulse_settings::registry;

pub use hot_cold::HotCold;
pub use zipf::Zipf;

registry! {
    $ /// Where requests go inside the region.
    ///
    /// Random patterns draw among the aligned places at which the largest block size still fits.
    #[derive(Clone, PartialEq, Debug)]
    pub enum AddressSpec, each_pattern;
    enum Running, each_running {
        "sequential" => sequential::Sequential: "one request after the other, from the start of the region again at its end";
        "uniform" => uniform::Uniform: "every aligned place equally likely";
        "zipf" => zipf::Zipf(it): "the place of rank k has weight k^-exponent; ranks are scattered over the region";
        "hot-cold" => hot_cold::HotCold(it): "a share of the traffic goes to the first part of the region, uniform within each part";
    }
}

/// A pattern as it is described.
trait Pattern {
    /// The pattern over a region; `key` is the flow's own, for whatever is scattered.
    fn over(&self, region: &Region, key: u64) -> Result<Running, Illegal>;
}

/// A pattern at work.
trait Draw {
    /// Where a request of `sectors` begins, in sectors from the start of the region.
    fn next(&mut self, region: &Region, rng: &mut Rng, sectors: u32) -> u64;
}

/// Draws start sectors so that every request lies wholly inside the region.
pub(super) struct Addresses {
    rng: Rng,
    pattern: Running,
    region: Region,
}

impl Addresses {
    /// The pattern over a region; `key` is the flow's own, for whatever is scattered.
    pub(super) fn new(spec: &AddressSpec, region: Region, rng: Rng, key: u64) -> Result<Addresses, Illegal> {
        let pattern = each_pattern!(spec, it => it.over(&region, key))?;
        Ok(Addresses { rng, pattern, region })
    }

    /// The first sector of a request of `sectors`.
    #[inline]
    pub(super) fn next(&mut self, sectors: u32) -> u64 {
        let Addresses { rng, pattern, region } = self;
        region.base + each_running!(pattern, it => it.next(region, rng, sectors))
    }
}
