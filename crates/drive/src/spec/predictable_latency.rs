//! Predictable latency mode (NVMe Base Specification 2.0, section 8.18): windows without background work, in turn with windows for it.

use super::{DriveSpec, Impossible};
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

impl DriveSpec {
    pub(super) fn check_predictable_latency(&self) -> Result<(), Impossible> {
        if self.predictable_latency.is_none() {
            return Ok(());
        }
        let key = "predictable-latency.dtwin-time";
        let require = |holds, other: &'static str, why: &str| Impossible::unless(holds, &[key, other], why);
        let why = "a write that completes with its program would wait for the end of a deterministic window: complete it in the cache";
        require(!self.cache.acknowledge.waits_for_programs(), "cache.acknowledge", why)?;
        let why = "commands of zones, and of log blocks, wait for programs and erases: give a drive of the page-mapped family";
        require(self.ftl.is_page_mapped(), "ftl.family", why)?;
        let why = "a look-up that evicts a changed map entry waits for a program: take the full map";
        require(self.ftl.mapping.cached().is_none(), "ftl.mapping", why)?;
        let why = "the windows are those of a drive with one FTL: leave out the namespaces, or [predictable-latency]";
        require(self.namespaces.is_empty(), "namespace.0.over-provisioning", why)?;
        let why = "a loss of power is not followed in held operations: leave out [power-loss], or [predictable-latency]";
        require(self.power_loss.is_none(), "power-loss.at", why)?;
        let why = "a format waits for erases: leave out [[format]], or [predictable-latency]";
        require(self.formats.is_empty(), "format.0.at", why)?;
        let why = "the two steps of a program are ordered at the die and cannot be held apart: take another program mode";
        require(self.part.two_step.is_none(), "part.program-mode", why)
    }
}
