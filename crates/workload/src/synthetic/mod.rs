//! Synthetic request generator. Arrival, operation, size and address draw from separate random streams, so that a
//! change of one property does not change the draws of the others.

pub mod address;
pub mod arrival;
mod clock;
mod mix;
pub(crate) mod permutation;
pub(crate) mod queue_depth;
mod ranks;
mod region;
pub mod size;
pub mod spec;
pub mod zones;

use crate::batching::PREFETCH_BATCH;
use crate::error::Illegal;
use crate::spec::Pacing;
use address::Addresses;
use clock::Clock;
use interpulse_engine::{Op, PrefetchDistance, Request, SimTime, Streams};
use mix::Mix;
use region::Region;
use size::Sizes;
use spec::{SyntheticPacing, SyntheticSpec};

pub(crate) struct Synthetic {
    mix: Mix,
    sizes: Sizes,
    addresses: Addresses,
    clock: Clock,
    pacing: Pacing,
    /// Current batch.
    next: [Request; PREFETCH_BATCH],
    /// Next batch.
    after: [Request; PREFETCH_BATCH],
    /// Number of requests returned from `next`.
    taken: usize,
    /// Whether `after` holds a batch.
    began: bool,
}

impl Synthetic {
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
            next: [Request::FLUSH; PREFETCH_BATCH],
            after: [Request::FLUSH; PREFETCH_BATCH],
            taken: PREFETCH_BATCH,
            began: false,
        })
    }

    /// Returns the next request; `None` when its arrival lies beyond representable time. `hint` receives generated
    /// requests ahead of their return.
    #[inline]
    pub(crate) fn next(
        &mut self,
        hint: impl FnMut(&Request, PrefetchDistance),
    ) -> Option<(SimTime, Request)> {
        let at = self.clock.next()?;
        if self.taken == PREFETCH_BATCH {
            self.draw_ahead(hint);
        }
        let request = self.next[self.taken];
        self.taken += 1;
        Some((at, request))
    }

    #[inline(never)]
    fn draw_ahead(&mut self, mut hint: impl FnMut(&Request, PrefetchDistance)) {
        if !std::mem::replace(&mut self.began, true) {
            self.draw_batch(&mut hint);
        }
        self.next = self.after;
        self.taken = 0;
        self.draw_batch(&mut hint);
        self.next.iter().for_each(|request| hint(request, PrefetchDistance::Near));
    }

    #[inline(never)]
    fn draw_batch(&mut self, hint: &mut impl FnMut(&Request, PrefetchDistance)) {
        for k in 0..PREFETCH_BATCH {
            self.after[k] = self.draw();
        }
        // Separate loop: the cache misses of consecutive hints overlap.
        self.after.iter().for_each(|request| hint(request, PrefetchDistance::Far));
    }

    #[inline]
    fn draw(&mut self) -> Request {
        let op = self.mix.next();
        if op == Op::Flush {
            return Request::FLUSH;
        }
        let sectors = self.sizes.next();
        Request::new(op, self.addresses.next(op, sectors), sectors)
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.pacing
    }
}
