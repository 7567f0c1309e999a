//! Checks of copyback: what does not go together with it.

use super::{DriveSpec, Impossible};

impl DriveSpec {
    pub(super) fn check_copyback(&self) -> Result<(), Impossible> {
        if self.ftl.copyback.is_none() {
            return Ok(());
        }
        let cases = [
            (
                self.ftl.gc.imposes(),
                "ftl.gc",
                "imposed write amplification moves no pages that a die could copy",
            ),
            (
                self.ftl.mapping.cached().is_some(),
                "ftl.mapping",
                "translation pages are moved among data, and completed in the controller",
            ),
            (
                self.ftl.placement.handles() > 0,
                "ftl.placement",
                "pages of several placement handles lie in a block, and the controller sorts their units",
            ),
            (
                self.ftl.reprogram.is_some(),
                "ftl.reprogram",
                "the pages of a word line with two bits per cell are programmed one by one",
            ),
            (
                self.faults.is_some(),
                "faults",
                "a program that fails is repeated from the controller's copy of its data, which a copyback does not have",
            ),
            (
                self.nand.power.budget.is_some(),
                "power.budget",
                "the budget grants the pulses of a program, not the sensing of its pages, again after a suspension",
            ),
        ];
        match cases.into_iter().find(|case| case.0) {
            Some((_, key, why)) => Err(Impossible::new(&["ftl.copyback", key], why)),
            None => Ok(()),
        }
    }
}
