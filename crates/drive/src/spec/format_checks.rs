//! Consistency checks of scheduled formats.

use super::{DriveSpec, FormatSpec, Impossible, NamespaceSpec};

impl DriveSpec {
    /// Checks the scheduled formats.
    pub(super) fn check_formats(&self) -> Result<(), Impossible> {
        if self.formats.is_empty() {
            return Ok(());
        }
        let at = "format.0.at";
        let goes = |holds, keys: &[&'static str], why| Impossible::unless(holds, keys, why);
        let why = "a loss of power is not followed in a format: leave out [power-loss], or [[format]]";
        goes(self.power_loss.is_none(), &[at, "power-loss.at"], why)?;
        let why = "a zoned namespace is emptied zone by zone, by resets: format a page-mapped one";
        let zoned = |of: &FormatSpec| {
            let chosen = |(k, _): &(u32, &NamespaceSpec)| of.namespace.is_none_or(|chosen| chosen == *k);
            self.ftl.zones.is_some() && self.namespaces.is_empty()
                || (0..).zip(&self.namespaces).filter(chosen).any(|(_, of)| of.ftl.zones.is_some())
        };
        goes(!self.formats.iter().any(zoned), &[at, "ftl.family"], why)?;
        let why = "a format erases blocks of the page-mapped family alone: leave out [[format]]";
        goes(self.ftl.log_blocks.is_none(), &[at, "ftl.family"], why)?;
        let why = "translation pages on flash are not formatted: take the full map, or leave out [[format]]";
        goes(self.ftl.mapping.cached().is_none(), &[at, "ftl.mapping"], why)?;
        let why = "gc = \"imposed\" keeps every unit where preconditioning put it: leave out [[format]]";
        goes(!self.ftl.gc.imposes(), &[at, "ftl.gc"], why)?;
        if !self.formats.iter().any(|of| of.erases) {
            return Ok(());
        }
        let erase = "format.0.erase";
        let why =
            "erases that fail are not followed in a format: leave out `erase`, or [faults] and [[fault]]";
        goes(self.faults.is_none(), &[erase, self.fault_key()], why)?;
        let why = "blocks of an SLC cache are not erased by a format: leave out `erase`, or [ftl.slc-cache]";
        goes(self.ftl.slc.is_none(), &[erase, "ftl.slc-cache.kind"], why)?;
        let why = "reprogrammable blocks are not erased by a format: leave out `erase`, or ftl.reprogram";
        goes(self.ftl.reprogram.is_none(), &[erase, "ftl.reprogram"], why)
    }
}
