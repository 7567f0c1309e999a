//! Changes of units for a host that keeps their data and restores what a power cut takes back.

use super::Drive;
use crate::audit::units::{UnitEvent, UnitLog};
use crate::ftl::FtlFamily;

impl Drive {
    /// Follows the versions of all units from now on: [`Drive::take_unit_events`] has each change. False for a drive that does
    /// not follow them, which needs a page map and a [`crate::spec::PowerLossSpec`].
    pub fn follow_units(&mut self) -> bool {
        let FtlFamily::Page(ftl) = &mut self.ftl else { return false };
        if self.outage.is_none() {
            return false;
        }
        ftl.blocks.units.versions().follow_units(true);
        self.has_detours = true;
        true
    }

    /// Moves the changes since the last call, in their order, to the end of `to`.
    pub fn take_unit_events(&mut self, to: &mut Vec<UnitEvent>) {
        if let Some(log) = self.unit_log() {
            log.take(to);
        }
    }

    pub(super) fn unit_log(&mut self) -> Option<&mut UnitLog> {
        let FtlFamily::Page(ftl) = &mut self.ftl else { return None };
        ftl.blocks.units.versions().unit_log()
    }
}
