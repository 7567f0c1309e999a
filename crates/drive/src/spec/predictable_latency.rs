//! Predictable latency mode (NVMe Base Specification 2.0, section 8.18): windows without background work, in turn with windows for it.

use interpulse_engine::Duration;
use interpulse_settings::{keys, required};

keys! {
    /// Windows of a drive in predictable latency mode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PredictableLatencySpec, pub fn read(s) {
        /// length of a deterministic window (DTWIN), in which the drive starts no program, no erase and no read of garbage collection
        pub dtwin_time: Duration = duration(
            required().within(Duration::from_us(100)..=Duration::from_ms(100_000)).typical(Duration::from_ms(40))
        ),
        /// length of a non-deterministic window (NDWIN), in which the drive does that work; all windows follow one another
        pub ndwin_time: Duration = duration(
            required().within(Duration::from_us(100)..=Duration::from_ms(100_000)).typical(Duration::from_ms(10))
        ),
    }
}

impl PredictableLatencySpec {
    /// From one deterministic window to the next.
    pub fn period(&self) -> Duration {
        self.dtwin_time + self.ndwin_time
    }
}
