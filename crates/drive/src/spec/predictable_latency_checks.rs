//! Consistency checks of predictable latency mode.

use super::{DriveSpec, Impossible};

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
