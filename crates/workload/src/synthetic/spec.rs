//! Description of a synthetic generator.

use super::address::AddressSpec;
use super::arrival::Arrivals;
use super::queue_depth::read_depth;
use super::size::BlockSize;
use interpulse_engine::{Bytes, SECTOR};
use interpulse_settings::{Row, default, keys, optional, required};

keys! {
    /// Generator that draws requests from distributions.
    #[derive(Clone, PartialEq, Debug)]
    pub struct SyntheticSpec, pub fn read(s) {
        /// closed loop, or open loop
        pub pacing: SyntheticPacing = policy(Some("closed"), SyntheticPacing::ROWS),
        /// share of reads; the rest writes
        // The shares are 0 to 1 and sum to 1 (within 1e-9).
        pub read_share: f64 = ["read"] fraction(default(1.0)),
        /// share of trims, taken from the writes
        pub trim_share: f64 = ["trim"] fraction(default(0.0)),
        /// share of Write Zeroes, taken from the writes
        pub zeroes_share: f64 = ["write-zeroes"] fraction(default(0.0)),
        /// share of comparisons (NVMe: Compare), taken from the writes
        pub compare_share: f64 = ["compare"] fraction(default(0.0)),
        /// Share of writes.
        pub write_share: f64 => (1.0 - read_share - trim_share - zeroes_share - compare_share).max(0.0),
        /// a flush after this many writes
        // Flushes are added to the requests counted by the shares.
        pub flush_every: Option<u64> = optional_u64(optional().at_least(1)),
        /// Size of each request but flushes.
        pub block_size: BlockSize => BlockSize::read(s)?,
        /// addresses are multiples of this
        // From the start of the drive. Also the popularity unit of the `zipf` and `hot-cold` patterns.
        pub alignment: Bytes = bytes(default(Bytes::kib(4)).within(Bytes(512)..=Bytes::mib(16))),
        /// pattern of addresses
        pub addresses: AddressSpec = ["address"] policy(Some("uniform"), AddressSpec::ROWS),
        /// start of the region addressed, as a share of the drive
        // Rounded up to the alignment.
        pub from: f64 = fraction(default(0.0)),
        /// end of the region addressed, as a share of the drive
        // Exclusive, rounded down to the alignment. Every request lies inside the region.
        pub to: f64 = fraction(default(1.0)),
    } check {
        let message = "reads and trims together exceed all requests";
        s.check_together(read_share + trim_share <= 1.0, &["trim", "read"], message)?;
        let message = "reads, trims, Write Zeroes and comparisons together exceed all requests";
        let others = read_share + trim_share + zeroes_share + compare_share;
        s.check_together(others <= 1.0 + 1e-9, &["write-zeroes", "compare", "trim", "read"], message)?;
        s.check(alignment.get().is_multiple_of(SECTOR.get()), "alignment", "a multiple of 512B")?;
        s.check_together(from < to, &["from", "to"], "the region addressed is empty")?;
    }
}

impl Default for SyntheticSpec {
    /// 4 KiB reads, uniform over the whole drive, one at a time.
    fn default() -> Self {
        SyntheticSpec {
            pacing: SyntheticPacing::Closed { depth: 1 },
            read_share: 1.0,
            write_share: 0.0,
            trim_share: 0.0,
            zeroes_share: 0.0,
            compare_share: 0.0,
            flush_every: None,
            block_size: BlockSize::Fixed(Bytes::kib(4)),
            alignment: Bytes::kib(4),
            addresses: AddressSpec::Uniform,
            from: 0.0,
            to: 1.0,
        }
    }
}

/// Pacing of a synthetic flow.
#[derive(Clone, PartialEq, Debug)]
pub enum SyntheticPacing {
    /// Closed loop: `depth` requests are outstanding.
    Closed {
        /// Outstanding requests, 1 to 65535.
        depth: u32,
    },
    /// Open loop: requests arrive independently of completions, the first one gap after the start of the flow.
    Open {
        /// Mean arrivals per second, above 0 and up to 1e9.
        rate_per_s: f64,
        /// Distribution of the gaps around their mean, 1 / rate.
        arrivals: Arrivals,
    },
}

impl SyntheticPacing {
    /// Pacing variants in the configuration.
    pub const ROWS: &'static [Row<SyntheticPacing>] = &[
        Row {
            name: "closed",
            doc: "a fixed number of requests is outstanding",
            read: |s| Ok(SyntheticPacing::Closed { depth: read_depth(s)? }),
        },
        Row {
            name: "open",
            doc: "requests arrive at a mean rate, independently of completions",
            read: |s| {
                let rate = required().within(1e-3..=1e9);
                let rate_per_s = s.per_second("rate", "mean arrivals per second", rate)?;
                let doc = "distribution of the gaps between arrivals";
                let arrivals = s.policy("arrivals", doc, Some("poisson"), Arrivals::ROWS)?;
                Ok(SyntheticPacing::Open { rate_per_s, arrivals })
            },
        },
    ];
}
