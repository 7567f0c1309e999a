//! The description of a synthetic generator.

use super::address::AddressSpec;
use super::arrival::Arrivals;
use super::depth::read_depth;
use super::size::BlockSize;
use interpulse_engine::{Bytes, SECTOR};
use interpulse_settings::{ConfigError, Row, Section, default, optional, required};

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

impl SyntheticPacing {
    /// What the configuration reads.
    pub const ROWS: &'static [Row<SyntheticPacing>] = &[
        Row { name: "closed", doc: "a fixed number of requests is kept outstanding", read: read_closed },
        Row { name: "open", doc: "requests arrive at a mean rate, whatever is outstanding", read: read_open },
    ];
}

fn read_closed(s: &mut Section) -> Result<SyntheticPacing, ConfigError> {
    Ok(SyntheticPacing::Closed { depth: read_depth(s)? })
}

fn read_open(s: &mut Section) -> Result<SyntheticPacing, ConfigError> {
    Ok(SyntheticPacing::Open {
        rate_per_s: s.per_second("rate", "mean arrivals per second", required().within(1e-3..=1e9))?,
        arrivals: s.policy(
            "arrivals",
            "distribution of the gaps between arrivals",
            Some("poisson"),
            Arrivals::ROWS,
        )?,
    })
}

impl SyntheticSpec {
    /// Reads a generator from the section of its flow.
    ///
    /// Fails on missing, malformed or contradicting keys; unknown ones are left to [`Section::finish`].
    pub fn read(s: &mut Section) -> Result<SyntheticSpec, ConfigError> {
        let pacing =
            s.policy("pacing", "closed loop, or open loop", Some("closed"), SyntheticPacing::ROWS)?;
        let read_share = s.fraction("read", "share of reads; the rest writes", default(1.0))?;
        let trim_share = s.fraction("trim", "share of trims, taken from the writes", default(0.0))?;
        let flush_every =
            s.optional_u64("flush-every", "a flush after this many writes", optional().at_least(1))?;
        let block_size = BlockSize::read(s)?;
        let alignment = s.bytes(
            "alignment",
            "addresses are multiples of this",
            default(Bytes::kib(4)).within(Bytes(512)..=Bytes::mib(16)),
        )?;
        let addresses = s.policy("address", "pattern of addresses", Some("uniform"), AddressSpec::ROWS)?;
        let from =
            s.fraction("from", "start of the region addressed, as a share of the drive", default(0.0))?;
        let to = s.fraction("to", "end of the region addressed, as a share of the drive", default(1.0))?;
        if read_share + trim_share > 1.0 {
            return Err(s.conflict(&["trim", "read"], "reads and trims together exceed all requests"));
        }
        if !alignment.get().is_multiple_of(SECTOR.get()) {
            return Err(s.invalid("alignment", "a multiple of 512B"));
        }
        if from >= to {
            return Err(s.conflict(&["from", "to"], "the region addressed is empty"));
        }
        let write_share = 1.0 - read_share - trim_share;
        Ok(SyntheticSpec {
            pacing,
            read_share,
            write_share,
            trim_share,
            flush_every,
            block_size,
            alignment,
            addresses,
            from,
            to,
        })
    }
}
