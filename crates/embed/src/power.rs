//! Power cuts by the host, and what has failed in a device.

use crate::device::{Device, Inner, machine};
use crate::error::Error;
use interpulse_array::array::Array;
use interpulse_engine::{Duration, SimTime};
use interpulse_study::report::smart;
use interpulse_study::run_target::RunTarget;
use serde_json::Value;

/// A power cut of a drive or an array, and its recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// Time of the cut.
    pub at: SimTime,
    /// Requests that were outstanding.
    pub requests: u64,
    /// Units that had been acknowledged and are lost.
    pub acknowledged_units_lost: u64,
    /// Time that finding the map again took, of an array by the slowest drive.
    pub mounting: Duration,
    /// When the host was served again.
    pub served: Option<SimTime>,
}

impl Device {
    /// Whether [`Device::cut_power`] can cut the power: with `[power-loss]`.
    pub fn can_cut_power(&self) -> bool {
        self.case.drive.power_loss.is_some()
    }

    /// Whether a power cut loses writes that were acknowledged: the cache is neither protected nor left before completion.
    pub fn forgets_acknowledged_writes(&self) -> bool {
        let drive = &self.case.drive;
        let cache = &drive.cache;
        let is_volatile = cache.size.get() > 0 && !cache.acknowledge.waits_for_programs();
        drive.power_loss.is_some() && is_volatile && !cache.protected
    }

    /// Cuts power now, for the time `power-loss.off-for`: outstanding requests complete as aborted, and later ones wait until
    /// the drive has recovered. Returns false if power is off already, and for an array with a failed drive.
    ///
    /// # Errors
    /// [`Error::Request`] unless [`Device::can_cut_power`], [`Error::Finished`] after [`Device::finish`].
    pub fn cut_power(&mut self) -> Result<bool, Error> {
        if self.is_finished() {
            return Err(Error::Finished);
        }
        if !self.can_cut_power() {
            let why = "power-loss: only a device with a section [power-loss] can lose power";
            return Err(Error::Request(why.into()));
        }
        Ok(machine!(&mut self.inner, m => m.cut_power()))
    }

    /// Power cuts of the device so far, by its host or its configuration.
    pub fn power_cuts(&self) -> Vec<PowerCut> {
        let machine = match &self.inner {
            Inner::Drive(machine) => machine,
            Inner::Array(machine) => return cuts_of_array(&machine.device),
        };
        let cut = |of: &interpulse_drive::drive::power_state::Recovery| PowerCut {
            at: of.at,
            requests: of.requests.iter().sum(),
            acknowledged_units_lost: of.found.losses.acknowledged,
            mounting: of.found.mounting,
            served: of.served,
        };
        machine.device.recoveries().iter().map(cut).collect()
    }

    /// Totals of wear, failures and lost data since the start, the section `smart` of a result (docs/RESULTS.md); `None` where
    /// nothing can fail. `refused` is the number of requests that a read-only drive refused.
    pub fn smart(&self, refused: u64) -> Option<Value> {
        machine!(&self.inner, m => smart::section(m.device.drives(), refused))
    }
}

fn cuts_of_array(array: &Array) -> Vec<PowerCut> {
    let of_drives = |k: usize| array.drives().iter().filter_map(move |drive| drive.recoveries().get(k));
    let cut = |(k, of): (usize, &interpulse_array::PowerCut)| PowerCut {
        at: of.at,
        requests: of.requests,
        acknowledged_units_lost: of_drives(k).map(|one| one.found.losses.acknowledged).sum(),
        mounting: of_drives(k).map(|one| one.found.mounting).max().unwrap_or_default(),
        served: of.served,
    };
    array.power_cuts().iter().enumerate().map(cut).collect()
}
