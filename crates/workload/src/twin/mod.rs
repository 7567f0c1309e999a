//! Statistical twins: traces made from a table row, for workloads whose traces are not public.
//!
//! A [`TwinRow`] says what a publication prints of a trace: number of requests, share of writes, sizes, unique
//! and rewritten volume, skew of the updates, mean gap and its burstiness. The twin has these statistics not
//! in expectation but in fact (within 2 %, mostly far nearer; `tests/twins.rs` measures it), or its row is
//! refused with what can be had: sizes (`sizes`), extents (`extents`) and gaps (`gaps`) are planned as
//! whole numbers, and only their order is random.
//!
//! Request number i is decided by one random permutation of all requests: where it lands among the writes it
//! is that write of the plan, among the reads that read. So a twin takes a few kilobytes whatever its length,
//! its requests are independent of each other but for the counts, and its beginning is like the whole.

mod bursts;
mod extents;
mod gaps;
pub mod read;
pub mod rows;
mod shape;
mod sizes;
pub mod spec;

pub use sizes::TwinSizes;

use crate::error::Illegal;
use crate::spec::Pacing;
use crate::synthetic::depth::check_depth;
use crate::synthetic::permute::Permutation;
use crate::trace::spec::{Fit, TracePacing};
use bursts::Bursts;
use extents::{Extents, PAGE_SECTORS};
use gaps::Gaps;
use interpulse_engine::random::mix;
use interpulse_engine::{Op, Request, SimTime, Streams};
use sizes::SizeCounts;
use spec::{TwinRow, TwinSpec};

/// What a row comes to: whole numbers of requests, sizes and extents.
pub(crate) struct Plan {
    writes: u64,
    extents: Extents,
    /// Sizes of the reads with the number of the first read after them.
    reads: Vec<(u32, u64)>,
    largest: u32,
    /// Sectors of the part that is only read; it follows the written part.
    read_only: u64,
}

impl Plan {
    /// Errors: the row contradicts itself or no twin can meet it; fields are the keys of a row.
    pub fn new(row: &TwinRow, pacing: TracePacing) -> Result<Plan, Illegal> {
        row.check(pacing)?;
        let writes = row.write_requests();
        let unique = row.unique_written_bytes();
        let reads = row.requests - writes;
        let read = ways(&row.reads, ["read-size", "read-sizes"], reads, f64::INFINITY)?.remove(0);
        let skew = row.update_skew.filter(|_| writes > 0);
        let mut planned = None;
        for written in ways(&row.writes, ["write-size", "write-sizes"], writes, unique)? {
            let extents = Extents::new(&written, row.rewritten_share, skew, row.update_shape);
            let met = extents.is_ok();
            planned = Some((written, extents));
            if met {
                break;
            }
        }
        let (written, extents) = planned.expect("there is at least one way");
        let extents = extents?;
        let largest_read = u64::from(read.largest());
        let read_only = match row.read_only {
            Some(volume) => volume.get() / 512 / PAGE_SECTORS * PAGE_SECTORS,
            None => extents.end().max(64 * largest_read).next_multiple_of(PAGE_SECTORS),
        };
        let all_overlap = row.read_overlap == 1.0 && writes > 0;
        if largest_read > 0 && !all_overlap && read_only < largest_read {
            let legal = format!("room for the largest read, {}B, or read-overlap = 1", largest_read * 512);
            return Err(Illegal::new("read-only", format!("{}B", read_only * 512), legal));
        }
        let mut first = 0;
        let cumulate = |&(sectors, count): &(u32, u64)| {
            first += count;
            (sectors, first)
        };
        Ok(Plan {
            writes,
            reads: read.by_size.iter().map(cumulate).collect(),
            largest: read.largest().max(written.largest()),
            read_only,
            extents,
        })
    }

    /// Sectors from the first to the last that the twin may touch.
    fn span(&self) -> u64 {
        (self.extents.end() + self.read_only).max(u64::from(self.largest))
    }
}

fn ways(sizes: &TwinSizes, keys: [&str; 2], total: u64, room: f64) -> Result<Vec<SizeCounts>, Illegal> {
    match total {
        0 => Ok(vec![SizeCounts { by_size: Vec::new() }]),
        total => SizeCounts::ways(sizes, keys, total, room),
    }
}

/// A running twin.
pub(crate) struct Twin {
    plan: Plan,
    order: Permutation,
    /// The order of the writes, where they come in bursts.
    bursts: Option<Bursts>,
    gaps: Gaps,
    /// Keys the addresses of reads.
    read_key: u64,
    read_overlap: f64,
    requests: u64,
    issued: u64,
    pacing: TracePacing,
    /// Mean gap in ns, after the speed factor.
    gap_ns: f64,
    now_ns: u64,
    /// The fraction of a nanosecond by which the true arrival lies after `now_ns`.
    carry_ns: f64,
    map: Map,
}

/// How the twin's addresses become those of the drive.
enum Map {
    Same,
    Fold { capacity: u64 },
    Scale { span: u64, capacity: u64 },
}

impl Twin {
    /// Plans the twin and takes its random streams.
    pub fn new(
        spec: &TwinSpec,
        start: SimTime,
        capacity: u64,
        streams: &Streams,
        instance: u64,
    ) -> Result<Twin, Illegal> {
        let speed = match spec.pacing {
            TracePacing::Closed { depth } => {
                check_depth(depth)?;
                1.0
            }
            TracePacing::Recorded { speed } if (1e-6..=1e6).contains(&speed) => speed,
            TracePacing::Recorded { speed } => return Err(Illegal::new("speed", speed, "1e-6 to 1e6")),
        };
        let plan = Plan::new(&spec.row, spec.pacing)?;
        let found = format!("twin {}, with requests of {}B", spec.row.name, u64::from(plan.largest) * 512);
        Illegal::unless(
            u64::from(plan.largest) <= capacity,
            "twin",
            found,
            format!("requests within the drive's {}B", capacity * 512),
        )?;
        let map = match spec.fit {
            Fit::Error if plan.span() > capacity => {
                let found = format!("error, and the twin {} takes {} sectors", spec.row.name, plan.span());
                let legal = format!(
                    "a twin within the drive's {capacity} sectors (fewer requests make a smaller one), or fit = \
                     fold or scale"
                );
                return Err(Illegal::new("fit", found, legal));
            }
            Fit::Error => Map::Same,
            Fit::Fold => Map::Fold { capacity },
            Fit::Scale => Map::Scale { span: plan.span(), capacity },
        };
        let key = |purpose: &str| streams.stream(purpose, instance).next_u64();
        let bursts = spec.bursts.filter(|_| plan.writes > 0).map(|of| {
            let gap_ns = spec.row.mean_gap.as_ns() as f64 / speed;
            let window = of.window.as_ns() as f64 / gap_ns * plan.writes as f64 / spec.row.requests as f64;
            Bursts::new(&plan.extents, u64::from(of.writes), window as u64, key("workload.twin.bursts"))
        });
        Ok(Twin {
            bursts,
            plan,
            order: Permutation::new(spec.row.requests, key("workload.twin.order")),
            gaps: Gaps::new(spec.row.requests - 1, spec.row.squared_variation, key("workload.twin.gaps")),
            read_key: key("workload.twin.reads"),
            read_overlap: spec.row.read_overlap,
            requests: spec.row.requests,
            issued: 0,
            pacing: spec.pacing,
            gap_ns: spec.row.mean_gap.as_ns() as f64 / speed,
            now_ns: start.as_ns(),
            carry_ns: 0.0,
            map,
        })
    }

    /// The next request, the first at the flow's start; `None` at the end.
    #[inline]
    pub fn next(&mut self) -> Option<(SimTime, Request)> {
        if self.issued == self.requests {
            return None;
        }
        if self.issued > 0 && matches!(self.pacing, TracePacing::Recorded { .. }) {
            let gap_ns = self.carry_ns + self.gaps.at(self.issued - 1) * self.gap_ns;
            let whole_ns = gap_ns as u64;
            self.carry_ns = gap_ns - whole_ns as f64;
            self.now_ns = self.now_ns.checked_add(whole_ns)?;
        }
        let place = self.order.apply(self.issued);
        self.issued += 1;
        let (op, (sector, sectors)) = match place.checked_sub(self.plan.writes) {
            None => {
                let write = self.bursts.as_mut().map_or(place, |bursts| bursts.next(place));
                (Op::Write, self.plan.extents.write(write))
            }
            Some(read) => (Op::Read, self.read(read)),
        };
        Some((SimTime(self.now_ns), Request { op, sector: self.placed(sector, sectors), sectors }))
    }

    /// Start and size of read number `read`.
    fn read(&self, read: u64) -> (u64, u32) {
        let plan = &self.plan;
        let sectors = plan.reads[plan.reads.partition_point(|&(_, end)| end <= read)].0;
        let draw = |purpose: u64| mix(self.read_key ^ mix(2 * read + purpose));
        let below = |draw: u64, n: u64| ((u128::from(draw) * u128::from(n)) >> 64) as u64;
        let unit = (draw(0) >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        let start = if plan.writes > 0 && unit < self.read_overlap {
            plan.extents.write(below(draw(1), plan.writes)).0
        } else {
            let places = (plan.read_only - u64::from(sectors)) / PAGE_SECTORS + 1;
            plan.extents.end() + below(draw(1), places) * PAGE_SECTORS
        };
        // A read from the last extents may reach beyond them.
        (start.min(plan.span() - u64::from(sectors)), sectors)
    }

    fn placed(&self, sector: u64, sectors: u32) -> u64 {
        match self.map {
            Map::Same => sector,
            Map::Fold { capacity } => (sector % capacity).min(capacity - u64::from(sectors)),
            Map::Scale { span, capacity } => {
                let scaled = (u128::from(sector) * u128::from(capacity) / u128::from(span)) as u64;
                scaled.min(capacity - u64::from(sectors)) / PAGE_SECTORS * PAGE_SECTORS
            }
        }
    }

    pub fn pacing(&self) -> Pacing {
        match self.pacing {
            TracePacing::Recorded { .. } => Pacing::Open,
            TracePacing::Closed { depth } => Pacing::Closed { depth },
        }
    }
}
