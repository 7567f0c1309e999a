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
use crate::together::TOGETHER;
use address::Addresses;
use clock::Clock;
use interpulse_engine::{Op, PrefetchDistance, Request, SimTime, Streams};
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
    /// The next ones.
    next: [Request; TOGETHER],
    /// Those after them.
    after: [Request; TOGETHER],
    /// How many of `next` have been asked for.
    taken: usize,
    /// `after` has been drawn.
    began: bool,
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
            next: [Request::FLUSH; TOGETHER],
            after: [Request::FLUSH; TOGETHER],
            taken: TOGETHER,
            began: false,
        })
    }

    /// The next request; `None` when its arrival lies beyond representable time. `told` hears of what is drawn ahead.
    #[inline]
    pub(crate) fn next(
        &mut self,
        told: impl FnMut(&Request, PrefetchDistance),
    ) -> Option<(SimTime, Request)> {
        let at = self.clock.next()?;
        if self.taken == TOGETHER {
            self.draw_ahead(told);
        }
        let request = self.next[self.taken];
        self.taken += 1;
        Some((at, request))
    }

    #[inline(never)]
    fn draw_ahead(&mut self, mut told: impl FnMut(&Request, PrefetchDistance)) {
        if !std::mem::replace(&mut self.began, true) {
            self.draw_together(&mut told);
        }
        self.next = self.after;
        self.taken = 0;
        self.draw_together(&mut told);
        self.next.iter().for_each(|request| told(request, PrefetchDistance::Near));
    }

    #[inline(never)]
    fn draw_together(&mut self, told: &mut impl FnMut(&Request, PrefetchDistance)) {
        for k in 0..TOGETHER {
            self.after[k] = self.draw();
        }
        // In a loop of its own: who is told waits for what it asks for, of as many at once as the processor looks at.
        self.after.iter().for_each(|request| told(request, PrefetchDistance::Far));
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
