//! Consistency checks of failing blocks on zoned drives.

use super::{DriveSpec, Impossible};

impl DriveSpec {
    /// Checks what a zoned drive whose blocks fail does not go together with.
    pub(super) fn check_failures_of_zones(&self) -> Result<(), Impossible> {
        let family = "ftl.family";
        let why = "only erases fail on a zoned drive, by faults.wear-out and faults.erase-failure: leave out the [[fault]] tables";
        Impossible::unless(self.schedule.is_empty(), &[family, "fault.0.kind"], why)?;
        let Some(faults) = &self.faults else { return Ok(()) };
        let why = "the data of a zone has its place, so that of a failed program could not go elsewhere: leave out \
                   faults.program-failure";
        Impossible::unless(faults.program_failure == 0.0, &["faults.program-failure", family], why)?;
        let why =
            "only erases fail on a zoned drive: leave out uncorrectable reads, failing and stalling dies";
        Impossible::unless(!faults.injects(), &["faults.uncorrectable-read", family], why)?;
        let why = "blocks that have failed are not followed in the recovery of zones: leave out [faults] or [power-loss]";
        Impossible::unless(self.power_loss.is_none(), &["faults.wear-out", "power-loss.at", family], why)?;
        self.check_factory_bad_blocks(faults)
    }
}
