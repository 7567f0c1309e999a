//! Checks of programs in two steps: what does not go together with them.

use super::{DriveSpec, Impossible};

impl DriveSpec {
    pub(super) fn check_two_steps(&self) -> Result<(), Impossible> {
        if self.part.two_step.is_none() {
            return Ok(());
        }
        let cases = [
            (
                self.power_loss.is_some(),
                "power-loss.at",
                "the data of a word line between its steps is in the controller, and the model of a power cut does not follow it",
            ),
            (
                self.ftl.gc.imposes(),
                "ftl.gc",
                "the programs of imposed write amplification have no word lines whose steps could follow one another",
            ),
            (
                self.ftl.reprogram.is_some(),
                "ftl.reprogram",
                "a word line with two bits per cell is programmed in one step",
            ),
            (
                self.ftl.copyback.is_some(),
                "ftl.copyback",
                "the second step needs the data again, which the controller does not have",
            ),
        ];
        match cases.into_iter().find(|case| case.0) {
            Some((_, key, why)) => Err(Impossible::new(&["part.program-mode", key], why)),
            None => Ok(()),
        }
    }
}
