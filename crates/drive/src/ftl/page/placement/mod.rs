//! Placement: the lane of the next program, by a static order or dynamically, and the reclaim unit handles of host data.

pub(crate) mod collection;
pub mod counters;
pub(crate) mod groups;
pub(crate) mod handles;
pub(crate) mod lane_selector;
pub mod stripe;

use interpulse_settings::registry;

pub use fdp::Fdp;
pub use streams::Streams;

/// Most placement handles of a drive. The command set has 16 bits for them; write streams are numbered in a byte.
pub const MOST_HANDLES: u32 = 64;
/// Most pairs of a reclaim group and a placement handle, which a write names in a byte.
pub const MOST_IDENTIFIERS: u32 = 256;

registry! {
    $ /// What the host may say about the place of its data.
    #[derive(Clone, Debug, PartialEq)]
    pub enum PlacementPolicy, each_policy {
        "none" => none::None: "nothing: writes that name a placement handle are refused";
        "fdp" => fdp::Fdp(it): "a placement handle: Flexible Data Placement (NVMe TP4146)";
        "streams" => streams::Streams(it): "a stream: the Streams Directive of NVMe 1.3";
    }
}

/// What a kind of placement offers to the host.
trait Placement {
    /// Whether each reclaim unit handle is persistently isolated; empty without handles. Otherwise it is initially isolated.
    fn persistently_isolated(&self) -> Vec<bool>;

    /// Reclaim groups: equal parts of the dies that a write may name.
    fn groups(&self) -> u32 {
        1
    }
}

impl PlacementPolicy {
    /// Whether each reclaim unit handle is persistently isolated; empty without handles.
    pub fn persistently_isolated(&self) -> Vec<bool> {
        each_policy!(self, it => it.persistently_isolated())
    }

    /// Placement handles that a write may name.
    pub fn handles(&self) -> u32 {
        self.persistently_isolated().len() as u32
    }

    /// Reclaim groups; one without handles.
    pub fn groups(&self) -> u32 {
        each_policy!(self, it => it.groups())
    }

    /// Classes of host data: pairs of a reclaim group and a handle. That of handle h in group g is g x handles + h.
    pub fn classes(&self) -> u32 {
        self.handles() * self.groups()
    }

    /// Streams of relocated data: one for each persistently isolated handle, and one that the others share.
    pub(crate) fn relocation_streams(persistent: &[bool]) -> u32 {
        let isolated = persistent.iter().filter(|&&of| of).count();
        (isolated + usize::from(isolated < persistent.len())) as u32
    }

    /// Open super blocks of a lane, and victims that wait for the units of others, beyond those of a drive without handles.
    pub(crate) fn blocks_of_lane(&self) -> u32 {
        let persistent = self.persistently_isolated();
        let more = |n: u32| n.saturating_sub(1);
        more(persistent.len() as u32) + 2 * more(PlacementPolicy::relocation_streams(&persistent))
    }
}
