//! Synthetic requests: each property (arrival, operation, size, address) is drawn by its own part from its
//! own random stream, so a change of one property leaves the draws of the others as they were.

mod address;
mod arrival;
mod mix;
pub(crate) mod permute;
mod size;
pub mod spec;
mod zipf;

use crate::error::Illegal;
use crate::spec::Pacing;
use address::Addresses;
use arrival::Clock;
use interpulse_engine::{Op, Request, SimTime, Streams};
use mix::Mix;
use size::Sizes;
use spec::{SyntheticPacing, SyntheticSpec};

/// Most requests a closed flow may keep outstanding: the entries of an NVMe submission queue (65,536) less
/// the one that tells a full queue from an empty one.
pub(crate) const DEPTH_MAX: u32 = 65_535;

/// A running generator.
pub(crate) struct Synthetic {
    mix: Mix,
    sizes: Sizes,
    addresses: Addresses,
    clock: Clock,
    pacing: Pacing,
}

impl Synthetic {
    /// Checks the description and takes the generator's random streams.
    pub(crate) fn new(
        spec: &SyntheticSpec,
        start: SimTime,
        capacity_sectors: u64,
        streams: &Streams,
        instance: u64,
    ) -> Result<Synthetic, Illegal> {
        let stream = |purpose: &str| streams.stream(purpose, instance);
        let sizes = Sizes::new(&spec.block_size, stream("workload.size"))?;
        Ok(Synthetic {
            mix: Mix::new(spec, stream("workload.op"))?,
            addresses: Addresses::new(
                spec,
                capacity_sectors,
                sizes.largest(),
                stream("workload.address"),
                stream("workload.permutation").next_u64(),
            )?,
            sizes,
            clock: Clock::new(&spec.pacing, start, stream("workload.arrival"))?,
            pacing: match spec.pacing {
                SyntheticPacing::Closed { depth } => Pacing::Closed { depth },
                SyntheticPacing::Open { .. } => Pacing::Open,
            },
        })
    }

    /// The next request; `None` when its arrival lies beyond representable time.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(SimTime, Request)> {
        let at = self.clock.next()?;
        let op = self.mix.next();
        if op == Op::Flush {
            return Some((at, Request::FLUSH));
        }
        let sectors = self.sizes.next();
        Some((at, Request { op, sector: self.addresses.next(sectors), sectors }))
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.pacing
    }
}

/// An error unless `depth` is a legal queue depth.
pub(crate) fn check_depth(depth: u32) -> Result<(), Illegal> {
    if depth == 0 || depth > DEPTH_MAX {
        return Err(Illegal::new("depth", depth, format!("1 to {DEPTH_MAX}")));
    }
    Ok(())
}
