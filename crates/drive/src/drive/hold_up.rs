//! Hold-up energy of a protected drive: at a cut, and in the worst case.

use crate::spec::DriveSpec;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::hold_up::Erases;
use interpulse_flash::hold_up::die_path::Path;
use interpulse_flash::hold_up::save_plan::{Save, save};
use interpulse_flash::hold_up::worst_case::worst;
use interpulse_flash::nand::Nand;
use interpulse_flash::parts::SuspendSupport;

/// Save energy by handling of erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Erases run to their end.
    pub finish: Save,
    /// Erases are suspended; `None` if that is off, or the part cannot program meanwhile.
    pub stop: Option<Save>,
}

/// Energy and pages of a cache save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldUp {
    /// Pages saved.
    pub pages: u64,
    /// In the state of the drive at the cut.
    pub at_cut: Ways,
    /// Pages of a full cache.
    pub most_pages: u64,
    /// With a full cache and the longest operation just begun on every die.
    pub worst: Ways,
}

fn stops(spec: &DriveSpec) -> bool {
    spec.nand.erase_suspend.can_suspend() && spec.part.suspend_support == SuspendSupport::Nested
}

/// Operations on the dies at a cut, taken before it clears them.
pub(super) struct DieOperations([Vec<Path>; 2]);

impl DieOperations {
    pub(super) fn of(nand: &Nand, now: SimTime) -> DieOperations {
        DieOperations([Erases::Finish, Erases::Stop].map(|erases| nand.paths_to_save(now, erases)))
    }

    /// Hold-up for saving `pages` now, and at most.
    pub(super) fn hold_up(&self, spec: &DriveSpec, pages: u64) -> HoldUp {
        let save_to = spec.power_loss.map(|of| of.save_to).unwrap_or_default();
        let of = |paths: &[Path], pages| save(&spec.geometry, &spec.part, paths, pages, save_to);
        let at_worst = |erases| {
            let (program, erase) = (&spec.nand.program_suspend, &spec.nand.erase_suspend);
            let one = worst(&spec.part, program, erase, erases, spec.ftl.reprogram.is_some());
            vec![one; spec.geometry.dies() as usize]
        };
        let page = spec.geometry.unit_bytes * u64::from(spec.geometry.units_per_page);
        let most_pages = spec.cache.size.get().div_ceil(page);
        let ways = |finish: &[Path], stop: &[Path], pages| Ways {
            finish: of(finish, pages),
            stop: stops(spec).then(|| of(stop, pages)),
        };
        let [finish, stop] = &self.0;
        HoldUp {
            pages,
            at_cut: ways(finish, stop, pages),
            most_pages,
            worst: ways(&at_worst(Erases::Finish), &at_worst(Erases::Stop), most_pages),
        }
    }
}

impl HoldUp {
    /// Energy in aJ of the drive's constant powers over `time`: controller and DRAM.
    pub fn constants(spec: &DriveSpec, time: Duration) -> [u128; 2] {
        // 1 uW for 1 ns is 1000 aJ.
        [spec.constants.controller, spec.constants.dram]
            .map(|power| power.map_or(0, |power| u128::from(power.0) * u128::from(time.as_ns()) * 1_000))
    }
}
