//! Consistency checks of zoned drives.

use super::{DriveSpec, Fault, Impossible};
use interpulse_engine::{Bytes, VectorAction};

impl DriveSpec {
    /// Checks what a zoned drive does not go together with.
    pub(super) fn check_zones(&self) -> Result<(), Impossible> {
        self.check_power_loss()?;
        self.check_failures_of_zones()?;
        self.check_chunks()?;
        if self.power_loss.is_some() {
            let areas = self.ftl.zones.as_ref().is_some_and(|zones| zones.zrwa.is_some());
            let why = "a random write area is memory that survives a loss of power: leave out cache.protected = false";
            Impossible::unless(!areas || self.cache.protected, &["ftl.zrwa-size", "cache.protected"], why)?;
        }
        let why = "a write that is smaller than a program waits in the cache for its neighbours in the zone, and would never \
                   be complete: leave out cache.acknowledge";
        let chunks = self.ftl.is_open_channel() && !self.cache.is_absent();
        let in_cache = chunks || !self.cache.acknowledge.waits_for_programs();
        let keys = if self.cache.is_absent() {
            ["cache.size", "ftl.family"]
        } else {
            ["cache.acknowledge", "ftl.family"]
        };
        Impossible::unless(in_cache, &keys, why)?;
        if let Some((zones, zrwa)) =
            self.ftl.zones.as_ref().and_then(|zones| zones.zrwa.map(|zrwa| (zones, zrwa)))
        {
            let unit = self.geometry.unit_bytes;
            let whole = |of: Bytes| of.get().is_multiple_of(unit);
            let why = format!(
                "random write areas have a whole number of the drive's logical blocks of {}",
                Bytes(unit)
            );
            let key = if whole(zrwa.size) { "ftl.zrwa-granularity" } else { "ftl.zrwa-size" };
            Impossible::unless(whole(zrwa.size) && whole(zrwa.granularity), &[key, "ftl.mapping-unit"], why)?;
            let most = zones.max_active;
            let why = format!(
                "a zone with a random write area is active: at most ftl.max-active = {most} have one"
            );
            Impossible::unless(zrwa.zones <= most, &["ftl.zrwa-zones", "ftl.max-active"], why)?;
            let units = self.zone_geometry()?.map_or(0, |zones| u64::from(zones.units));
            let why = format!(
                "a random write area of {} is larger than a zone of {}",
                zrwa.size,
                Bytes(units * unit)
            );
            Impossible::unless(zrwa.size.get() <= units * unit, &["ftl.zrwa-size", "ftl.zone-rows"], why)?;
        }
        let errors = self.nand.errors.as_ref();
        let why = "the host decides when a zone is rewritten; the drive moves no data";
        let refreshes = errors.is_some_and(|errors| errors.refresh_after.is_some());
        Impossible::unless(!refreshes, &["errors.refresh-after", "ftl.family"], why)?;
        let reclaims = errors.is_some_and(|errors| errors.reclaim_reads.is_some());
        Impossible::unless(!reclaims, &["errors.reclaim-reads", "ftl.family"], why)
    }

    /// Checks what the chunks of an Open-Channel drive do not go together with.
    fn check_chunks(&self) -> Result<(), Impossible> {
        if !self.ftl.is_open_channel() {
            return Ok(());
        }
        let why = "the host of an Open-Channel drive recovers its data after a loss of power, which flows do not: leave out [power-loss]";
        Impossible::unless(self.power_loss.is_none(), &["power-loss.at", "ftl.family"], why)?;
        let (program, most) = (self.layout()?.units_per_program, VectorAction::MOST_ADDRESSES);
        let why = format!(
            "a program of {program} logical blocks needs as many addresses, and a vector command has at most {most}: choose a \
             larger ftl.mapping-unit or a smaller ftl.multi-plane"
        );
        let keys = ["ftl.multi-plane", "ftl.mapping-unit", "ftl.family"];
        Impossible::unless(program <= most, &keys, why)
    }

    /// Checks what a zoned drive whose blocks fail does not go together with.
    pub(super) fn check_failures_of_zones(&self) -> Result<(), Impossible> {
        let family = "ftl.family";
        let why = "only erases fail on a zoned drive, by faults.wear-out and faults.erase-failure: leave out the [[fault]] tables of \
                   other kinds than \"stall\"";
        Impossible::unless(self.schedule.iter().all(Fault::stalls), &[family, "fault.0.kind"], why)?;
        let Some(faults) = &self.faults else { return Ok(()) };
        let why = "the data of a zone has its place, so that of a failed program could not go elsewhere: leave out \
                   faults.program-failure";
        Impossible::unless(faults.program_failure == 0.0, &["faults.program-failure", family], why)?;
        let why =
            "only erases fail on a zoned drive: leave out uncorrectable reads, failing and stalling dies";
        Impossible::unless(!faults.injects(), &["faults.uncorrectable-read", family], why)?;
        let why = "blocks that have failed are not followed in the recovery of zones: leave out [faults] or [power-loss]";
        Impossible::unless(self.power_loss.is_none(), &[self.fault_key(), "power-loss.at", family], why)?;
        self.check_factory_bad_blocks(faults)
    }
}
