//! Power state of a drive, the cuts so far, and the fate of interrupted requests.

use super::hold_up::HoldUp;
use crate::audit::loss::Losses;
use crate::ftl::page::power_loss::outage::Recovered;
use crate::numbers::Lpn;
use crate::spec::PowerLossSpec;
use interpulse_engine::{RequestId, SimTime};

/// Whether the drive has power, and what it does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    On,
    Off,
    Mounting,
    Refilling,
}

/// A cut and the recovery from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// When power was cut.
    pub at: SimTime,
    /// Requests that the host had submitted and had no answer to: reads, writes, others.
    pub requests: [u64; 3],
    /// What saving the cache on the energy of capacitors takes; `None` where nothing protects it.
    pub hold_up: Option<HoldUp>,
    /// What the FTL found again.
    pub found: Recovered,
    /// When power was back.
    pub on: Option<SimTime>,
    /// When the host was served again.
    pub served: Option<SimTime>,
}

/// What became of an owner's request that was outstanding at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutWrite {
    /// Its number.
    pub id: RequestId,
    /// Logical units whose data, or newer data, the drive still has.
    pub survived: Vec<Lpn>,
}

/// What a cut did to an owner's requests. All outstanding ones are gone; their numbers are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Writes of which at least one unit had been taken up.
    pub writes: Vec<CutWrite>,
    /// What was lost.
    pub losses: Losses,
}

/// Whether there is power, and the cuts so far.
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
