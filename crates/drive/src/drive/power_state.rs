//! Power state of a drive, the cuts so far, and the fate of interrupted requests.

use super::hold_up::HoldUp;
use crate::audit::loss::Losses;
use crate::ftl::page::power_loss::outage::Recovered;
use crate::numbers::Lpn;
use crate::spec::PowerLossSpec;
use interpulse_engine::{RequestId, SimTime};

/// Power state of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    On,
    Off,
    Mounting,
    Refilling,
}

/// Cut and its recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Time of the cut.
    pub at: SimTime,
    /// Requests submitted and not completed: reads, writes, others.
    pub requests: [u64; 3],
    /// Hold-up of the cache save; `None` where the cache is not protected.
    pub hold_up: Option<HoldUp>,
    /// Result of the FTL's recovery.
    pub found: Recovered,
    /// Time at which power returned.
    pub on: Option<SimTime>,
    /// Time at which the host was served again.
    pub served: Option<SimTime>,
}

/// Fate of a write that was outstanding at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutWrite {
    /// Its request number.
    pub id: RequestId,
    /// Logical units whose data, or newer data, survived.
    pub survived: Vec<Lpn>,
}

/// Effect of a cut on the owner's requests. All outstanding ones are dropped; their numbers are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Writes with at least one unit admitted.
    pub writes: Vec<CutWrite>,
    /// Lost units.
    pub losses: Losses,
}

pub(super) struct Outage {
    pub(super) spec: PowerLossSpec,
    pub(super) state: State,
    pub(super) requests_lost: u64,
    pub(super) cuts: Vec<Recovery>,
}

impl Outage {
    pub(super) fn new(spec: PowerLossSpec) -> Outage {
        Outage { spec, state: State::On, requests_lost: 0, cuts: Vec::new() }
    }

    pub(super) fn last(&mut self) -> &mut Recovery {
        self.cuts.last_mut().expect("power has been cut")
    }
}
