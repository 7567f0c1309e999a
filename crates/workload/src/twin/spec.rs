//! Description of a statistical twin: the row of a table and its pacing.

use super::sizes::TwinSizes;
use crate::error::Illegal;
use crate::synthetic::arrival::SQUARED_VARIATION;
use crate::trace::limits::SPAN_NS_MAX;
use crate::trace::spec::{Fit, TracePacing};
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::choices;

/// Statistical twin as the source of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct TwinSpec {
    /// The statistics.
    pub row: TwinRow,
    /// Bursts of the writes of an extent; `None` for writes at any time.
    pub bursts: Option<BurstSpec>,
    /// Pacing of the requests.
    pub pacing: TracePacing,
    /// Handling of a twin larger than the drive. `fold` and `scale` overlap addresses and so change the unique and
    /// the rewritten volume.
    pub fit: Fit,
}

choices! {
    /// Distribution of the updates over the written part.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum UpdateShape, default Fifth {
        /// evenly over a hot fifth of the extents, and evenly over the rest
        Fifth = "fifth",
        /// in proportion to a power of the extent's rank
        Zipf = "zipf",
    }
}

/// Bursts of writes to the same extent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstSpec {
    /// Writes of an extent in a burst, at least 2.
    pub writes: u32,
    /// Approximate duration of a burst.
    pub window: Duration,
}

/// Statistics of a trace, as printed in a table. docs/TWINS.md defines each.
#[derive(Clone, PartialEq, Debug)]
pub struct TwinRow {
    /// Name in messages.
    pub name: String,
    /// Number of requests, 2 to [`REQUESTS_MAX`].
    pub requests: u64,
    /// Share of the requests that write, 0 to 1.
    pub write_share: f64,
    /// Sizes of the reads; ignored without reads.
    pub reads: TwinSizes,
    /// Sizes of the writes; ignored without writes.
    pub writes: TwinSizes,
    /// Share of the written volume that is rewritten, 0 to below 1.
    pub rewritten_share: f64,
    /// Share of the updates on the busiest 20 % of the written pages, 0.2 to 1; `None` for evenly distributed
    /// updates.
    pub update_skew: Option<f64>,
    /// Distribution of the updates that results in this share.
    pub update_shape: UpdateShape,
    /// Mean time between two requests.
    pub mean_gap: Duration,
    /// Squared coefficient of variation of these times, at least 1.
    pub squared_variation: f64,
    /// Share of the reads that go to written extents, to each in proportion to its writes; the other reads go to the
    /// read-only part.
    pub read_overlap: f64,
    /// Volume of the read-only part; `None` for the written volume, and at least 64 of the largest reads.
    pub read_only: Option<Bytes>,
}

/// Most requests of a twin: half an hour of simulation.
pub const REQUESTS_MAX: u64 = 100_000_000;

impl TwinRow {
    /// The same statistics over another number of requests: shares, means and skew are unchanged, volumes are scaled.
    pub fn with_requests(mut self, requests: u64) -> TwinRow {
        self.requests = requests;
        self
    }

    /// Number of requests that write.
    pub fn write_requests(&self) -> u64 {
        libm::round(self.requests as f64 * self.write_share) as u64
    }

    /// Volume written, in bytes.
    pub fn written_bytes(&self) -> f64 {
        match self.write_requests() {
            0 => 0.0,
            writes => writes as f64 * self.writes.mean_bytes(),
        }
    }

    /// Volume read, in bytes.
    pub fn read_bytes(&self) -> f64 {
        match self.requests - self.write_requests() {
            0 => 0.0,
            reads => reads as f64 * self.reads.mean_bytes(),
        }
    }

    /// Volume of the distinct sectors written, in bytes.
    pub fn unique_written_bytes(&self) -> f64 {
        self.written_bytes() * (1.0 - self.rewritten_share)
    }

    /// Checks everything that requires no plan. Field names are the keys of a row.
    pub(super) fn check(&self, pacing: TracePacing) -> Result<(), Illegal> {
        let requests = self.requests;
        let some = (2..=REQUESTS_MAX).contains(&requests);
        Illegal::unless(some, "requests", requests, format!("2 to {REQUESTS_MAX}"))?;
        let share = |key: &str, value: f64, least: f64| {
            Illegal::unless((least..=1.0).contains(&value), key, value, format!("{least} to 1"))
        };
        share("write-share", self.write_share, 0.0)?;
        share("read-overlap", self.read_overlap, 0.0)?;
        share("update-skew", self.update_skew.unwrap_or(1.0), 0.2)?;
        let rewritten = self.rewritten_share;
        Illegal::unless((0.0..1.0).contains(&rewritten), "rewritten-share", rewritten, "0 to below 1")?;
        let varied = self.squared_variation;
        Illegal::unless(SQUARED_VARIATION.contains(&varied), "squared-variation", varied, "1 to 10000")?;
        let made = self.write_requests() as f64 / requests as f64;
        let near = |made: f64, wanted: f64| (made - wanted).abs() <= 0.01 * wanted;
        let legal = format!("a share that {requests} requests can have within 1 %; more requests help");
        let had = near(made, self.write_share) && near(1.0 - made, 1.0 - self.write_share);
        Illegal::unless(had, "write-share", self.write_share, legal)?;
        let fewest = super::gaps::fewest(varied) + 1;
        let legal =
            format!("at most the variation possible with {requests} requests; {fewest} requests or more");
        Illegal::unless(requests >= fewest, "squared-variation", varied, legal)?;
        let speed = match pacing {
            TracePacing::Recorded { speed } => speed,
            TracePacing::Closed { .. } => f64::INFINITY,
        };
        Illegal::unless(
            self.requests as f64 * self.mean_gap.as_ns() as f64 / speed <= SPAN_NS_MAX as f64,
            "mean-gap",
            self.mean_gap,
            "so short that the twin lasts at most 208 days",
        )
    }
}
