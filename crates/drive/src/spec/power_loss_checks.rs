//! Consistency checks of power loss.

use super::{DriveSpec, Impossible};

impl DriveSpec {
    pub(super) fn check_power_loss(&self) -> Result<(), Impossible> {
        if self.power_loss.is_none() {
            return Ok(());
        }
        let why = "gc = \"imposed\" has no places of data on flash that a map could be rebuilt from";
        Impossible::unless(!self.ftl.gc.imposes(), &["power-loss.at", "ftl.gc"], why)?;
        let why = "a drive without a write cache has nothing that capacitors could save";
        let saves = self.power_loss.is_some_and(|of| of.capacitor.is_some());
        let keys = ["power-loss.capacitor-voltage", "cache.size"];
        Impossible::unless(!(saves && self.cache.is_absent()), &keys, why)?;
        let why = "a loss of power is not followed in the current through time nor in a budget of power";
        let goes = |holds, key| Impossible::unless(holds, &["power-loss.at", key], why);
        goes(self.nand.power.trace.is_none(), "power.trace")?;
        goes(self.nand.power.budget.is_none(), "power.budget")
    }

    pub(crate) fn loses_cache(&self) -> bool {
        let through = self.cache.acknowledge.waits_for_programs();
        self.power_loss.is_some() && (through || !self.cache.protected)
    }
}
