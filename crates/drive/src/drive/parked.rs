//! Parked state: a drive after an orderly end, as the start of another run.

use super::Drive;
use super::state::CHECKED;
use crate::ftl::log_block::spec::LogBlockSpec;
use crate::ftl::{EachNamespace, FtlFamily, NamespaceFamily, PageFtl, PreconditionedState};
use crate::spec::{DriveSpec, FtlSpec};

impl Drive {
    /// State with map, wear and open blocks, all data on flash. The drive is closed and has nothing outstanding.
    ///
    /// # Errors
    /// Says which key gives the drive state that the format does not hold.
    pub fn parked_state(&self) -> Result<PreconditionedState, String> {
        if let Some((key, what)) = self.spec.excludes_parking() {
            return Err(format!("{key}: {what} cannot be kept beyond a session"));
        }
        match &self.ftl {
            FtlFamily::Page(ftl) => parked_page(ftl, &self.spec),
            FtlFamily::Namespaces(ftls) => {
                let specs = self.spec.namespaces().expect(CHECKED);
                let parked = ftls.all().iter().zip(&specs).map(|(of, spec)| match of.family() {
                    NamespaceFamily::Page(ftl) => parked_page(ftl, spec),
                    NamespaceFamily::Zoned(ftl) => ftl.parked().map(PreconditionedState::from),
                });
                Ok(EachNamespace(parked.collect::<Result<_, _>>()?).into())
            }
            FtlFamily::Zoned(ftl) => ftl.parked().map(PreconditionedState::from),
            FtlFamily::LogBlock(ftl) => ftl.parked().map(PreconditionedState::from),
        }
    }
}

fn parked_page(ftl: &PageFtl, spec: &DriveSpec) -> Result<PreconditionedState, String> {
    ftl.parked(spec.stripe().expect(CHECKED)).map(PreconditionedState::from)
}

impl DriveSpec {
    /// Why a drive cannot start with `state`, of a drive whose keys that shape a state are the same.
    pub fn excludes_state(&self, state: &PreconditionedState) -> Option<String> {
        match state {
            PreconditionedState::Page(blocks) if blocks.kept_slc.is_some() && self.ftl.slc.is_none() => {
                Some("ftl.slc-cache is set in the state and not in the configuration".into())
            }
            PreconditionedState::Zoned(tables) => {
                let slots = self.cache.slots(&self.geometry, &self.ftl);
                let most = self.ftl.zones.as_ref().map_or(u32::MAX, |zones| zones.max_active);
                let (held, closed) = (tables.held_units(), tables.closed_zones());
                if held > slots {
                    return Some(cache_is_too_small(slots, held));
                }
                (closed > most).then(|| {
                    format!("ftl.max-active-zones is {most}, and {closed} zones of the state are active")
                })
            }
            PreconditionedState::Namespaces(each) => {
                let specs = self.namespaces().expect(CHECKED);
                specs.iter().zip(&each.0).find_map(|(of, state)| of.excludes_state(state))
            }
            PreconditionedState::LogBlock(tables) => {
                let slots = self.cache.slots(&self.geometry, &self.ftl);
                let most = self.ftl.log_blocks.map_or(u32::MAX, |of| of.log_blocks);
                let (held, logs) = tables.held();
                let differs = |of: &LogBlockSpec| tables.association().is_some_and(|it| it != of.association);
                if self.ftl.log_blocks.as_ref().is_some_and(differs) {
                    return Some("ftl.log-block-association is another one in the state".into());
                }
                if held > slots {
                    return Some(cache_is_too_small(slots, held));
                }
                (logs > most).then(|| format!("ftl.log-blocks is {most}, and a lane of the state has {logs}"))
            }
            PreconditionedState::Page(_) => None,
        }
    }

    /// Key and name of state that a snapshot and its supplement do not hold, if the drive has such state.
    pub fn excludes_parking(&self) -> Option<(&'static str, &'static str)> {
        let faults = [
            (self.faults.is_some(), "faults", "the state of faults"),
            (
                !self.schedule.iter().all(|of| of.what.leaves_no_state()),
                "fault",
                "what injected faults leave",
            ),
        ];
        let own = self.excludes_parking_of(&self.ftl);
        let parts = self.namespaces.iter().find_map(|of| self.excludes_parking_of(&of.ftl));
        own.or(parts).or_else(|| first_that_excludes(&faults))
    }

    fn excludes_parking_of(&self, ftl: &FtlSpec) -> Option<(&'static str, &'static str)> {
        let zones = ftl.zones.as_ref();
        first_that_excludes(&[
            (
                zones.is_some() && self.power_loss.is_some(),
                "power-loss",
                "what zones keep against a loss of power",
            ),
            (zones.is_some_and(|of| of.zrwa.is_some()), "ftl.zrwa-size", "a random write area"),
            (ftl.hotness.levels() > 0, "ftl.hotness", "the state of hot/cold separation"),
            (
                !ftl.placement.persistently_isolated().is_empty(),
                "ftl.placement",
                "the state of placement handles",
            ),
            (ftl.gc.imposes(), "ftl.gc", "the state of imposed write amplification"),
        ])
    }
}

fn first_that_excludes(of: &[(bool, &'static str, &'static str)]) -> Option<(&'static str, &'static str)> {
    of.iter().find_map(|&(excludes, key, what)| excludes.then_some((key, what)))
}

fn cache_is_too_small(slots: u64, held: u64) -> String {
    format!("cache.size is for {slots} units, and the state has {held} in the write cache")
}
