//! The description of a statistical twin: the row of a table, and how its requests are issued.

use super::sizes::TwinSizes;
use crate::error::Illegal;
use crate::synthetic::arrival::SQUARED_VARIATION;
use crate::trace::limits::SPAN_NS_MAX;
use crate::trace::spec::{Fit, TracePacing};
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::choices;

/// A twin as the source of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct TwinSpec {
    /// The statistics.
    pub row: TwinRow,
    /// Whether the writes of an extent come close together; `None` for at any time.
    pub bursts: Option<BurstSpec>,
    /// When its requests are issued.
    pub pacing: TracePacing,
    /// What becomes of a twin that is larger than the drive. `fold` and `scale` lay addresses over each other
    /// and so change what is unique and what is rewritten.
    pub fit: Fit,
}

choices! {
    /// How the updates are spread over what is written.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum UpdateShape, default Fifth {
        /// evenly over a hot fifth of the extents, and evenly over the rest
        Fifth = "fifth",
        /// in proportion to a power of the extent's rank
        Zipf = "zipf",
    }
}

/// Writes of the same extent that come close together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstSpec {
    /// Writes of an extent in a burst, at least 2.
    pub writes: u32,
    /// They all fall within about this time.
    pub window: Duration,
}

/// The statistics of a trace, as a table prints them. docs/TRACES.md defines each.
#[derive(Clone, PartialEq, Debug)]
pub struct TwinRow {
    /// Name in messages.
    pub name: String,
    /// Number of requests, 2 to [`REQUESTS_MAX`].
    pub requests: u64,
    /// Share of the requests that write, 0 to 1.
    pub write_share: f64,
    /// Sizes of the reads; not used where there are none.
    pub reads: TwinSizes,
    /// Sizes of the writes; not used where there are none.
    pub writes: TwinSizes,
    /// Share of the written volume that had been written before, 0 to below 1.
    pub rewritten_share: f64,
    /// Share of the updates that fall on the busiest 20 % of the written pages, 0.2 to 1; `None` spreads them
    /// evenly.
    pub update_skew: Option<f64>,
    /// How the updates are spread to have that share.
    pub update_shape: UpdateShape,
    /// Mean time between two requests.
    pub mean_gap: Duration,
    /// Squared coefficient of variation of these times, at least 1.
    pub squared_variation: f64,
    /// Share of the reads that go to written extents, as often to each as it is written; the others go to the
    /// part that is only read.
    pub read_overlap: f64,
    /// Volume of the part that is only read; `None` for as much as is written, and at least 64 of the largest
    /// reads.
    pub read_only: Option<Bytes>,
}

/// Most requests of a twin: half an hour's worth of simulation.
pub const REQUESTS_MAX: u64 = 100_000_000;

impl TwinRow {
    /// The same statistics over another number of requests: shares, means and skew stay, volumes grow or
    /// shrink with the requests.
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

    /// What needs no plan to be seen. Field names are the keys of a row.
    pub(super) fn check(&self, pacing: TracePacing) -> Result<(), Illegal> {
        if !(2..=REQUESTS_MAX).contains(&self.requests) {
            return Err(Illegal::new("requests", self.requests, format!("2 to {REQUESTS_MAX}")));
        }
        let share = |key: &str, value: f64, least: f64| match (least..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(Illegal::new(key, value, format!("{least} to 1"))),
        };
        share("write-share", self.write_share, 0.0)?;
        share("read-overlap", self.read_overlap, 0.0)?;
        share("update-skew", self.update_skew.unwrap_or(1.0), 0.2)?;
        if !(0.0..1.0).contains(&self.rewritten_share) {
            return Err(Illegal::new("rewritten-share", self.rewritten_share, "0 to below 1"));
        }
        if !SQUARED_VARIATION.contains(&self.squared_variation) {
            return Err(Illegal::new("squared-variation", self.squared_variation, "1 to 10000"));
        }
        let made = self.write_requests() as f64 / self.requests as f64;
        if [(made, self.write_share), (1.0 - made, 1.0 - self.write_share)]
            .iter()
            .any(|&(m, w)| (m - w).abs() > 0.01 * w)
        {
            let legal =
                format!("a share that {} requests can have within 1 %; more requests help", self.requests);
            return Err(Illegal::new("write-share", self.write_share, legal));
        }
        let fewest = super::gaps::fewest(self.squared_variation) + 1;
        if self.requests < fewest {
            let legal = format!("at most what {} requests show; {fewest} requests or more", self.requests);
            return Err(Illegal::new("squared-variation", self.squared_variation, legal));
        }
        let speed = match pacing {
            TracePacing::Recorded { speed } => speed,
            TracePacing::Closed { .. } => f64::INFINITY,
        };
        Illegal::unless(
            self.requests as f64 * self.mean_gap.as_ns() as f64 / speed <= SPAN_NS_MAX as f64,
            "mean-gap",
            self.mean_gap,
            "so short that the twin lasts at most 208 days",
        )?;
        Ok(())
    }
}
