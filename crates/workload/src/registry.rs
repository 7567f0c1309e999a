//! Names with one line of documentation, for lists on a command line and for error texts.

use crate::synthetic::spec::{AddressSpec, Arrivals, BlockSize, SyntheticPacing};
use crate::trace::spec::{Fit, Reorder, TracePacing};

/// Trace formats.
pub const FORMATS: &[(&str, &str)] = &[
    ("auto", "told from the end of the file name, then from the first row"),
    (
        "msr",
        "MSR Cambridge CSV: FILETIME in 100 ns, host, disk, Read|Write, offset and size in bytes, response",
    ),
    ("spc", "SPC / UMass CSV: ASU, LBA in 512 B sectors, size in bytes, r|w, time in seconds"),
    ("ascii", "columns time, device, LBA in 512 B sectors, sectors, type; time unit and type code given"),
    ("disksim", "ascii with time in whole ns, type 1 = read, 0 = write"),
    ("ssdsim-ms", "ascii with time in ms (decimals allowed), type 1 = read, 0 = write"),
    ("mqsim", "ascii with time in whole ns, type 1 = read, 0 = write"),
];

/// Address patterns of synthetic flows.
pub const ADDRESSES: &[(&str, &str)] = &[
    ("sequential", "one request after the other, from the start of the region again at its end"),
    ("uniform", "every aligned place equally likely"),
    ("zipf", "the place of rank k has weight k^-exponent; ranks are scattered over the region"),
    ("hot-cold", "a share of the traffic goes to the first part of the region, uniform within each part"),
];

/// Inter-arrival times of open synthetic flows.
pub const ARRIVALS: &[(&str, &str)] = &[
    ("fixed", "equal gaps"),
    ("poisson", "exponential gaps"),
    ("hyper-exponential", "bursty: two exponential phases with balanced means and a given squared variation"),
];

/// Block sizes of synthetic flows.
pub const BLOCK_SIZES: &[(&str, &str)] =
    &[("fixed", "every request has the same size"), ("weighted", "drawn from a list of sizes with weights")];

/// When requests are issued.
pub const PACINGS: &[(&str, &str)] = &[
    ("closed", "a fixed number of requests is kept outstanding"),
    ("open", "requests arrive at a mean rate, whatever is outstanding (synthetic flows)"),
    ("recorded", "requests arrive at their recorded times, sped up or slowed down (traces)"),
];

/// What becomes of a trace that is larger than the drive.
pub const FITS: &[(&str, &str)] = &[
    ("error", "a request beyond the drive is an error that names its line"),
    ("fold", "addresses modulo the capacity; a request that would straddle the end is moved before it"),
    ("scale", "the occupied range is mapped linearly onto the drive, aligned to 4 KiB"),
];

/// What becomes of a recorded time that goes backwards.
pub const REORDERS: &[(&str, &str)] = &[
    ("error", "a row earlier than the row before it is a bad row"),
    ("clamp", "such a row arrives together with the latest row before it"),
];

impl AddressSpec {
    /// The name in [`ADDRESSES`].
    pub fn name(&self) -> &'static str {
        match self {
            AddressSpec::Sequential => "sequential",
            AddressSpec::Uniform => "uniform",
            AddressSpec::Zipf { .. } => "zipf",
            AddressSpec::HotCold { .. } => "hot-cold",
        }
    }
}

impl Arrivals {
    /// The name in [`ARRIVALS`].
    pub fn name(&self) -> &'static str {
        match self {
            Arrivals::Fixed => "fixed",
            Arrivals::Poisson => "poisson",
            Arrivals::HyperExponential { .. } => "hyper-exponential",
        }
    }
}

impl BlockSize {
    /// The name in [`BLOCK_SIZES`].
    pub fn name(&self) -> &'static str {
        match self {
            BlockSize::Fixed(_) => "fixed",
            BlockSize::Weighted(_) => "weighted",
        }
    }
}

impl SyntheticPacing {
    /// The name in [`PACINGS`].
    pub fn name(&self) -> &'static str {
        match self {
            SyntheticPacing::Closed { .. } => "closed",
            SyntheticPacing::Open { .. } => "open",
        }
    }
}

impl TracePacing {
    /// The name in [`PACINGS`].
    pub fn name(&self) -> &'static str {
        match self {
            TracePacing::Recorded { .. } => "recorded",
            TracePacing::Closed { .. } => "closed",
        }
    }
}

impl Fit {
    /// The name in [`FITS`].
    pub fn name(self) -> &'static str {
        match self {
            Fit::Error => "error",
            Fit::Fold => "fold",
            Fit::Scale => "scale",
        }
    }
}

impl Reorder {
    /// The name in [`REORDERS`].
    pub fn name(self) -> &'static str {
        match self {
            Reorder::Error => "error",
            Reorder::Clamp => "clamp",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::spec::Format;
    use interpulse_engine::Bytes;

    fn names(list: &[(&'static str, &str)]) -> Vec<&'static str> {
        list.iter().map(|&(name, _)| name).collect()
    }

    /// Every variant stands in its list, in declaration order, and every list entry has a variant.
    #[test]
    fn the_lists_name_every_variant() {
        let formats = FORMATS.iter().map(|&(name, _)| Format::named(name).map(|f| f.name()));
        // `ascii` alone has no name to parse: its time unit must be given.
        let expected = FORMATS.iter().map(|&(name, _)| (name != "ascii").then_some(name));
        assert!(formats.eq(expected));
        let addresses = [
            AddressSpec::Sequential,
            AddressSpec::Uniform,
            AddressSpec::Zipf { exponent: 1.0 },
            AddressSpec::HotCold { hot_share: 0.2, hot_traffic: 0.8 },
        ];
        assert_eq!(names(ADDRESSES), addresses.map(|a| a.name()));
        let arrivals = [Arrivals::Fixed, Arrivals::Poisson, Arrivals::HyperExponential { scv: 2.0 }];
        assert_eq!(names(ARRIVALS), arrivals.map(|a| a.name()));
        let sizes = [BlockSize::Fixed(Bytes(512)), BlockSize::Weighted(vec![])];
        assert_eq!(names(BLOCK_SIZES), sizes.map(|s| s.name()));
        let pacings = [
            SyntheticPacing::Closed { depth: 1 }.name(),
            SyntheticPacing::Open { rate_per_s: 1.0, arrivals: Arrivals::Fixed }.name(),
            TracePacing::Recorded { speed: 1.0 }.name(),
        ];
        assert_eq!(names(PACINGS), pacings);
        assert_eq!(TracePacing::Closed { depth: 1 }.name(), "closed");
        assert_eq!(names(FITS), [Fit::Error, Fit::Fold, Fit::Scale].map(Fit::name));
        assert_eq!(names(REORDERS), [Reorder::Error, Reorder::Clamp].map(Reorder::name));
    }
}
