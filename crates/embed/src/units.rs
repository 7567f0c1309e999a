//! Following the units of a drive: its changes, with the requests that made them.

use crate::device::{Device, Inner};
use crate::machine::{Machine, Simulated};
use crate::unit_change::UnitChange;
use interpulse_drive::audit::units::UnitEvent;
use interpulse_drive::numbers::Lpn;
use interpulse_engine::SECTOR;
use interpulse_study::run_target::RunTarget;

impl Device {
    /// Follows the changes of all units from now on, before the first request. Returns the bytes of a unit; `None` for a device
    /// whose units are not followed: an array, and a drive without `[power-loss]` or without a page map.
    pub fn follow_units(&mut self) -> Option<u64> {
        let Inner::Drive(machine) = &mut self.inner else { return None };
        machine.follow_units().then(|| machine.device.drives()[0].spec().geometry.unit_bytes)
    }

    /// Moves the changes since the last call to the end of `to`. Changes by requests whose completions have not been polled are
    /// among them.
    #[inline]
    pub fn take_unit_changes(&mut self, to: &mut Vec<UnitChange>) {
        if let Inner::Drive(machine) = &mut self.inner {
            machine.take_units(to);
        }
    }
}

impl<D: Simulated> Machine<D> {
    /// Follows the units of the drive; false if it cannot.
    pub fn follow_units(&mut self) -> bool {
        let follows = self.device.drives_mut()[0].follow_units();
        self.units = follows.then(Vec::new);
        follows
    }

    /// Moves the changes of units to the end of `to`.
    #[inline]
    pub fn take_units(&mut self, to: &mut Vec<UnitChange>) {
        if self.units.is_some() {
            self.poll_units();
            self.units.iter_mut().for_each(|units| to.append(units));
        }
    }

    /// Takes changes of units from the drive, while the requests that made them are known.
    #[cold]
    pub(crate) fn poll_units(&mut self) {
        let Some(units) = &mut self.units else { return };
        let drive = &mut self.device.drives_mut()[0];
        let mut events = Vec::new();
        drive.take_unit_events(&mut events);
        let (bytes, first) = (drive.spec().geometry.unit_bytes, self.namespaces[0].start * SECTOR.get());
        let at = |lpn: Lpn| u64::from(lpn.0) * bytes - first;
        units.extend(events.into_iter().map(|event| match event {
            UnitEvent::Written { tag, lpn, version, absorbed } => {
                let cookie = self.outstanding.get(tag).cookie;
                UnitChange::Written { cookie, offset: at(lpn), version, absorbed }
            }
            UnitEvent::Trimmed { lpn, version, absorbed } => {
                UnitChange::Trimmed { offset: at(lpn), version, absorbed }
            }
            UnitEvent::Empty { lpn, units } => {
                UnitChange::Empty { offset: at(lpn), bytes: u64::from(units) * bytes }
            }
            UnitEvent::Durable { lpn, version } => UnitChange::Durable { offset: at(lpn), version },
            UnitEvent::Reverted { lpn, version } => UnitChange::Reverted { offset: at(lpn), version },
            UnitEvent::PowerLost => UnitChange::PowerLost,
        }));
    }
}
