//! Parked state: a drive after an orderly end, as the start of another run.
//!
//! An orderly shutdown writes the cache to flash. Its programs come after the last request, so they take no simulated time, like
//! those of preconditioning.

use super::Drive;
use super::state::CHECKED;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::precondition::Preconditioner;
use crate::ftl::{FtlFamily, PreconditionedState};
use crate::numbers::Lpn;
use crate::spec::DriveSpec;

impl Drive {
    /// State with map, wear and open blocks, all data on flash. The drive is closed and has nothing outstanding.
    ///
    /// # Errors
    /// Says which key gives the drive state that the format does not hold.
    pub fn parked_state(&self) -> Result<PreconditionedState, String> {
        if let Some((key, what)) = self.spec.excludes_parking() {
            return Err(format!("{key}: {what} cannot be kept beyond a session"));
        }
        let FtlFamily::Page(ftl) = &self.ftl else {
            return Err("only page-mapped drives can be kept".into());
        };
        if ftl.blocks.in_flight.iter().any(|&programs| programs > 0) {
            return Err("programs of collection were interrupted: let the drive rest first".into());
        }
        let mut blocks = ftl.blocks.clone();
        // Blocks whose collection has begun and holds no operation are collected by the next drive.
        for victim in ftl.collection.lanes.iter().flat_map(|lane| &lane.victims) {
            blocks.units.map_mut().set_candidate(victim.super_block, true);
        }
        let map = blocks.map();
        let cached = |lpn: &Lpn| matches!(map.get(*lpn), Where::Cache(_));
        let dirty: Vec<Lpn> = Lpn(0).until(Lpn(map.logical_units())).filter(cached).collect();
        let stripe = self.spec.stripe().expect(CHECKED);
        let mut writer = Preconditioner::resume(&mut blocks, stripe);
        writer.write_each(&dirty);
        writer.finish();
        Ok(PreconditionedState::Page(blocks))
    }
}

impl DriveSpec {
    /// Key and name of state that a snapshot does not hold, if the drive has such state.
    pub fn excludes_parking(&self) -> Option<(&'static str, &'static str)> {
        let ftl = &self.ftl;
        [
            (self.is_divided(), "namespace", "the state of namespaces"),
            (!ftl.is_page_mapped(), "ftl.family", "the state of zones or log blocks"),
            (ftl.slc.is_some(), "ftl.slc-cache", "the state of an SLC cache"),
            (ftl.hotness.levels() > 0, "ftl.hotness", "the state of hot/cold separation"),
            (
                !ftl.placement.persistently_isolated().is_empty(),
                "ftl.placement",
                "the state of placement handles",
            ),
            (ftl.gc.imposes(), "ftl.gc", "the state of imposed write amplification"),
            (ftl.mapping.cached().is_some(), "ftl.mapping", "the state of a mapping cache"),
            (self.power_loss.is_some(), "power-loss", "the metadata of power-loss recovery"),
            (self.faults.is_some(), "faults", "the state of faults"),
            (
                !self.schedule.iter().all(|of| of.what.leaves_no_state()),
                "fault",
                "what injected faults leave",
            ),
        ]
        .into_iter()
        .find_map(|(excludes, key, what)| excludes.then_some((key, what)))
    }
}
