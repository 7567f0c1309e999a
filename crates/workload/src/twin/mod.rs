//! Statistical twins: traces generated from a table row, for workloads without public traces.
//!
//! A [`TwinRow`] holds the published statistics of a trace: number of requests, share of writes, sizes, unique and
//! rewritten volume, skew of the updates, mean gap and its burstiness. The twin matches these statistics by
//! construction (within 2 %, mostly much better; measured by `tests/twins.rs`); otherwise its row is rejected with
//! the possible values. Sizes (`sizes`), extents (`extents`) and gaps (`gaps`) are planned as whole numbers, and only
//! their order is random.
//!
//! One random permutation of all requests determines request number i: a position among the writes selects that write
//! of the plan, a position among the reads that read. A twin of any length takes a few kilobytes, its requests are
//! independent except for the counts, and any part has the statistics of the whole.

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
use crate::synthetic::permutation::Permutation;
use crate::synthetic::queue_depth::check_depth;
use crate::trace::layout::Map;
use crate::trace::spec::{Fit, TracePacing};
use bursts::Bursts;
use extents::{Extents, PAGE_SECTORS};
use gaps::Gaps;
use interpulse_engine::random::mix;
use interpulse_engine::{Op, Request, SimTime, Streams};
use sizes::SizeCounts;
use spec::{TwinRow, TwinSpec};

pub(crate) struct Plan {
    writes: u64,
    extents: Extents,
    /// Sizes of the reads, each with the number of the first read of the next size.
    reads: Vec<(u32, u64)>,
    largest: u32,
    /// Sectors of the read-only part, which follows the written part.
    read_only: u64,
}

impl Plan {
    /// Errors: the row contradicts itself or no twin matches it; fields are the keys of a row.
    pub fn new(row: &TwinRow, pacing: TracePacing) -> Result<Plan, Illegal> {
        row.check(pacing)?;
        let writes = row.write_requests();
        let unique = row.unique_written_bytes();
        let reads = row.requests - writes;
        let read = candidates(&row.reads, ["read-size", "read-sizes"], reads, f64::INFINITY)?.remove(0);
        let skew = row.update_skew.filter(|_| writes > 0);
        let mut planned = None;
        for written in candidates(&row.writes, ["write-size", "write-sizes"], writes, unique)? {
            let extents = Extents::new(&written, row.rewritten_share, skew, row.update_shape);
            let matched = extents.is_ok();
            planned = Some((written, extents));
            if matched {
                break;
            }
        }
        let (written, extents) = planned.expect("there is at least one candidate");
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

    fn span(&self) -> u64 {
        (self.extents.end() + self.read_only).max(u64::from(self.largest))
    }
}

fn candidates(sizes: &TwinSizes, keys: [&str; 2], total: u64, room: f64) -> Result<Vec<SizeCounts>, Illegal> {
    match total {
        0 => Ok(vec![SizeCounts { by_size: Vec::new() }]),
        total => SizeCounts::candidates(sizes, keys, total, room),
    }
}

pub(crate) struct Twin {
    plan: Plan,
    order: Permutation,
    bursts: Option<Bursts>,
    gaps: Gaps,
    read_key: u64,
    read_overlap: f64,
    requests: u64,
    issued: u64,
    pacing: TracePacing,
    /// Mean gap in ns, after the speed factor.
    gap_ns: f64,
    now_ns: u64,
    /// Fraction of a nanosecond by which the exact arrival exceeds `now_ns`.
    carry_ns: f64,
    map: Map,
    capacity: u64,
}

impl Twin {
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
            Fit::Fold => Map::Fold,
            Fit::Scale => Map::Scale { low: 0, span: plan.span() },
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
            capacity,
        })
    }

    /// Next request, the first at the start of the flow; `None` at the end.
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
        let sector = self.map.place(sector, sectors, self.capacity).expect("requests fit into the drive");
        Some((SimTime(self.now_ns), Request::new(op, sector, sectors)))
    }

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
        // A read of the last extents may exceed them.
        (start.min(plan.span() - u64::from(sectors)), sectors)
    }

    pub fn pacing(&self) -> Pacing {
        self.pacing.into()
    }
}
