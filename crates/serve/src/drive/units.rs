//! Data of the units of a drive that a power cut reverts: the drive says when each unit changes.

use crate::command::{Command, Outcome};
use interpulse_embed::UnitChange;

/// Data of a drive whose cache forgets acknowledged writes at a power cut. The thread of the drive calls it, in the drive's order.
pub trait UnitData: Send {
    /// Follows a drive with units of so many bytes.
    fn begin(&mut self, unit_bytes: u64);

    /// `version` of the unit at `offset` is the data of `command`; with `absorbed` no power cut restores the one before.
    ///
    /// # Errors
    /// How `command` ends if the data cannot be stored.
    fn written(
        &mut self,
        command: &Command,
        offset: u64,
        version: u32,
        absorbed: bool,
    ) -> Result<(), Outcome>;

    /// Any other change.
    ///
    /// # Errors
    /// Why the data cannot be stored or restored: they are not those of the drive any more.
    fn changed(&mut self, change: &UnitChange) -> Result<(), String>;

    /// `command` has ended, and its data are no longer needed. Returns how it ends for its client.
    fn ended(&mut self, command: &Command, outcome: Outcome) -> Outcome;
}
