//! Hedged reads: the time after which a host issues a read a second time (J. Dean and L. A. Barroso, "The Tail at Scale", CACM 2013).

use interpulse_engine::Duration;
use interpulse_settings::{keys, optional};

keys! {
    /// When the reads of a flow are hedged; never by default.
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    pub struct HedgeSpec, pub fn read(s) {
        /// time after which a read that its drive has not completed is also read from another copy, or reconstructed; left out, never
        pub after: Option<Duration> =
            ["hedge-after"] optional_duration(optional().positive().at_most(Duration::from_ms(100_000))),
        /// percentile of each thousand reads of the flow that then replaces hedge-after; left out, hedge-after stays
        pub percentile: Option<f64> = ["hedge-percentile"] optional_f64(optional().within(50.0..=99.9)),
    }
}

impl HedgeSpec {
    /// Whether reads of the flow can be hedged.
    pub fn is_on(&self) -> bool {
        self.after.is_some() || self.percentile.is_some()
    }
}
