//! Synthetic requests: each property (arrival, operation, size, address) is drawn by its own part from its
//! own random stream, so a change of one property leaves the draws of the others as they were.

pub mod address;
pub mod arrival;
mod clock;
pub(crate) mod depth;
mod mix;
pub(crate) mod permute;
mod ranks;
mod region;
pub mod size;
pub mod spec;

use crate::error::Illegal;
use crate::spec::Pacing;
use address::Addresses;
use clock::Clock;
use interpulse_engine::{Op, Request, SimTime, Streams};
use mix::Mix;
use region::Region;
use size::Sizes;
use spec::{SyntheticPacing, SyntheticSpec};

/// A running generator.
pub(crate) struct Synthetic {
    mix: Mix,
    sizes: Sizes,
    addresses: Addresses,
    clock: Clock,
    pacing: Pacing,
    /// Drawn ahead.
    coming: Request,
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
        let mut synthetic = Synthetic {
            mix: Mix::new(spec, stream("workload.op"))?,
            addresses: Addresses::new(
                &spec.addresses,
                Region::new(spec.from..spec.to, spec.alignment, capacity_sectors, sizes.largest())?,
                stream("workload.address"),
                stream("workload.permutation").next_u64(),
            )?,
            sizes,
            clock: Clock::new(&spec.pacing, start, stream("workload.arrival"))?,
            pacing: match spec.pacing {
                SyntheticPacing::Closed { depth } => Pacing::Closed { depth },
                SyntheticPacing::Open { .. } => Pacing::Open,
            },
            coming: Request::FLUSH,
        };
        synthetic.coming = synthetic.draw();
        Ok(synthetic)
    }

    /// The next request; `None` when its arrival lies beyond representable time.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(SimTime, Request)> {
        let coming = self.draw();
        let at = self.clock.next()?;
        Some((at, std::mem::replace(&mut self.coming, coming)))
    }

    /// What [`Synthetic::next`] will return.
    #[inline]
    pub(crate) fn coming(&self) -> &Request {
        &self.coming
    }

    #[inline]
    fn draw(&mut self) -> Request {
        let op = self.mix.next();
        if op == Op::Flush {
            return Request::FLUSH;
        }
        let sectors = self.sizes.next();
        Request { op, sector: self.addresses.next(sectors), sectors }
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.pacing
    }
}
