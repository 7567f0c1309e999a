//! The description of a synthetic generator.

use interpulse_engine::Bytes;

/// A generator that makes requests up from distributions.
#[derive(Clone, PartialEq, Debug)]
pub struct SyntheticSpec {
    /// When requests are issued.
    pub pacing: SyntheticPacing,
    /// Share of reads; the three shares are 0 to 1 and sum to 1 (within 1e-9).
    pub read_share: f64,
    /// Share of writes.
    pub write_share: f64,
    /// Share of trims.
    pub trim_share: f64,
    /// A flush follows every so many writes (at least 1). Flushes are requests on top of the shares.
    pub flush_every: Option<u64>,
    /// Size of each read, write and trim.
    pub block_size: BlockSize,
    /// Requests start at multiples of this from the start of the drive; a multiple of 512 B. Also the unit
    /// of popularity of the `zipf` and `hot-cold` patterns.
    pub alignment: Bytes,
    /// Where requests go.
    pub addresses: AddressSpec,
    /// Start of the region as a fraction of the capacity, 0 to 1, rounded up to the alignment.
    pub from: f64,
    /// End of the region (exclusive) as a fraction of the capacity, above `from`, up to 1; rounded down to
    /// the alignment. Every request lies wholly inside the region.
    pub to: f64,
}

impl Default for SyntheticSpec {
    /// 4 KiB reads, uniform over the whole drive, one at a time.
    fn default() -> Self {
        SyntheticSpec {
            pacing: SyntheticPacing::Closed { depth: 1 },
            read_share: 1.0,
            write_share: 0.0,
            trim_share: 0.0,
            flush_every: None,
            block_size: BlockSize::Fixed(Bytes::kib(4)),
            alignment: Bytes::kib(4),
            addresses: AddressSpec::Uniform,
            from: 0.0,
            to: 1.0,
        }
    }
}

/// When a synthetic flow issues its requests.
#[derive(Clone, PartialEq, Debug)]
pub enum SyntheticPacing {
    /// `depth` requests are kept outstanding.
    Closed {
        /// Outstanding requests, 1 to 65535.
        depth: u32,
    },
    /// Requests arrive by themselves, the first one gap after the flow's start.
    Open {
        /// Mean arrivals per second, above 0 and up to 1e9.
        rate_per_s: f64,
        /// How the gaps vary around their mean, 1 / rate.
        arrivals: Arrivals,
    },
}

/// How the gaps between arrivals vary.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// Equal gaps. Fractions of a nanosecond are carried over, never lost.
    Fixed,
    /// Exponential gaps: a Poisson process.
    Poisson,
    /// Each gap is exponential with one of two means, chosen independently; the phases have balanced means
    /// (both contribute half of the time). Production traces are bursty like this.
    HyperExponential {
        /// Squared coefficient of variation of the gaps (variance over squared mean), 1 to 1e6.
        /// 1 is a Poisson process.
        scv: f64,
    },
}

/// Size of requests.
#[derive(Clone, PartialEq, Debug)]
pub enum BlockSize {
    /// Every request has this size: a multiple of 512 B, 512 B to 1 GiB.
    Fixed(Bytes),
    /// Sizes (each as for `Fixed`) with weights (above 0; only their ratios matter), at least one.
    Weighted(Vec<(Bytes, f64)>),
}

/// Where requests go inside the region.
///
/// Random patterns draw among the aligned places at which the largest block size still fits.
#[derive(Clone, PartialEq, Debug)]
pub enum AddressSpec {
    /// One after the other (reads, writes and trims share one position), wrapping at the end.
    Sequential,
    /// Every place equally likely.
    Uniform,
    /// The place of rank k = 1, 2, ... has weight k^-exponent. A fixed pseudo-random permutation, keyed by
    /// the seed and the flow's instance, scatters the ranks over the region.
    Zipf {
        /// Skew, above 0 and up to 10; web and block traces lie between 0.6 and 1.2.
        exponent: f64,
    },
    /// The first `hot_share` of the region receives `hot_traffic` of the requests; uniform in each part.
    HotCold {
        /// Share of the places that is hot, between 0 and 1 exclusive.
        hot_share: f64,
        /// Share of the requests that goes there, 0 to 1.
        hot_traffic: f64,
    },
}
