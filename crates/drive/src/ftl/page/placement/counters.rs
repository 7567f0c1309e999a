//! Counters of placement: units by handle, and the FDP event log as counts.

use interpulse_engine::counters;

counters! {
    /// Units of one placement handle.
    pub struct HandleCounters {
        /// units that the host wrote to the handle, programmed
        host_units: "units",
        /// units without data in the programs of its host data and, where it is persistently isolated, of its relocated data
        padding_units: "units",
        /// units of the handle that were relocated and programmed
        relocated_units: "units",
    }
}

counters! {
    /// Units of one reclaim group.
    pub struct GroupCounters {
        /// units that the host wrote, programmed to the group
        host_units: "units",
        /// units relocated in the group and programmed
        relocated_units: "units",
        /// units that named the group and were programmed to another one, because it was full
        outside_units: "units",
    }
}

counters! {
    /// The FDP event log as counts.
    pub struct PlacementEvents {
        /// Media Reallocated: reclaim units whose valid data began to move
        media_reallocated: "reclaim units",
        /// Controller Level Reset Modified Reclaim Unit Handles: lost from a handle with power, before anything was written to them
        reset_modified: "reclaim units",
    }
}

impl HandleCounters {
    /// Units programmed for the handle, for each that its host wrote; `None` if it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let programmed = self.host_units + self.padding_units + self.relocated_units;
        (self.host_units > 0).then(|| programmed as f64 / self.host_units as f64)
    }
}

/// Counters of the handles of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementCounters {
    /// By handle.
    pub handles: Vec<HandleCounters>,
    /// By reclaim group.
    pub groups: Vec<GroupCounters>,
    /// Events of all handles.
    pub events: PlacementEvents,
}

impl PlacementCounters {
    /// Counts since `before`.
    #[must_use]
    pub fn since(&self, before: &PlacementCounters) -> PlacementCounters {
        let handles = self.handles.iter().zip(&before.handles).map(|(after, before)| after.since(before));
        let groups = self.groups.iter().zip(&before.groups).map(|(after, before)| after.since(before));
        PlacementCounters {
            handles: handles.collect(),
            groups: groups.collect(),
            events: self.events.since(&before.events),
        }
    }
}
