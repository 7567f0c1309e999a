//! Unit log: what happens to the versions of each unit, for a host that keeps the data and restores it after a power cut.

use crate::numbers::Lpn;
use interpulse_engine::Tag;

/// Change of a logical unit, in the order of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitEvent {
    /// Request `tag` of the host has stored `version` in the cache. With `absorbed` no power cut can restore the version before.
    Written {
        /// The host's number of the request.
        tag: Tag,
        /// Unit.
        lpn: Lpn,
        /// New version.
        version: u32,
        /// The version before was only in the cache, in the same place.
        absorbed: bool,
    },
    /// A trim, which is `version`, has removed the data. With `absorbed` no power cut can restore the version before.
    Trimmed {
        /// Unit.
        lpn: Lpn,
        /// Version of the trim.
        version: u32,
        /// The version before was only in the cache.
        absorbed: bool,
    },
    /// A trim covered `units` units from `lpn` on that have no data.
    Empty {
        /// First unit.
        lpn: Lpn,
        /// Units.
        units: u32,
    },
    /// A power cut restores `version` or a later one from now on.
    Durable {
        /// Unit.
        lpn: Lpn,
        /// Version.
        version: u32,
    },
    /// A power cut has restored `version`, which is not the newest.
    Reverted {
        /// Unit.
        lpn: Lpn,
        /// Version that survived.
        version: u32,
    },
    /// Power was cut; units that were not reverted have their newest version. Every version is durable.
    PowerLost,
}

/// Events that the host has not taken.
#[derive(Clone, Debug)]
pub struct UnitLog {
    /// The host's number of the request that writes now.
    pub(crate) writer: Tag,
    events: Vec<UnitEvent>,
}

impl Default for UnitLog {
    fn default() -> UnitLog {
        UnitLog { writer: Tag(u32::MAX), events: Vec::new() }
    }
}

impl UnitLog {
    pub(super) fn push(&mut self, event: UnitEvent) {
        self.events.push(event);
    }

    /// A trim of `lpn` found no data; neighbours share an event.
    pub(super) fn push_empty(&mut self, at: Lpn) {
        match self.events.last_mut() {
            Some(UnitEvent::Empty { lpn, units }) if *lpn + *units == at => *units += 1,
            _ => self.events.push(UnitEvent::Empty { lpn: at, units: 1 }),
        }
    }

    /// Moves the events to the end of `to`.
    pub(crate) fn take(&mut self, to: &mut Vec<UnitEvent>) {
        to.append(&mut self.events);
    }
}
