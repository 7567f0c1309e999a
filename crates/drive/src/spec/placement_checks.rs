//! Consistency checks of placement handles.

use super::{DriveSpec, Impossible};
use crate::ftl::page::placement::PlacementPolicy;
use crate::ftl::page::placement::stripe::Allocation;

impl DriveSpec {
    pub(super) fn check_placement(&self) -> Result<(), Impossible> {
        let handles = self.ftl.placement.handles();
        if handles == 0 {
            return Ok(());
        }
        let why = "imposed write amplification has no blocks to place data in";
        Impossible::unless(!self.ftl.gc.imposes(), &["ftl.placement", "ftl.gc"], why)?;
        let why =
            "a super word line gathers consecutive data of all handles: choose dynamic or a static order";
        let gathers = self.ftl.allocation == Allocation::SuperWordLine;
        Impossible::unless(!gathers, &["ftl.placement", "ftl.allocation"], why)?;
        let why = "a write that names a placement handle has its place; separation by hotness would choose another: leave out one \
                   of the two";
        Impossible::unless(self.ftl.hotness.levels() == 0, &["ftl.placement", "ftl.hotness"], why)?;
        let (layout, config) = (self.layout()?, self.ftl_config()?);
        let per_lane =
            f64::from(config.logical_units) / f64::from(layout.lanes) / f64::from(layout.units_per_block);
        let spare = f64::from(layout.blocks) - per_lane;
        let groups = self.ftl.placement.groups();
        let why = format!(
            "{groups} reclaim groups do not divide the {} dies of the drive: choose a divisor",
            self.geometry.dies()
        );
        let keys = ["ftl.reclaim-groups", "geometry.channels", "geometry.chips-per-channel"];
        Impossible::unless(self.geometry.dies().is_multiple_of(groups), &keys, why)?;
        let why = "a static order has its die for each address, whatever group a write names: use ftl.allocation = \"dynamic\"";
        let dynamic = groups == 1 || self.ftl.allocation == Allocation::Dynamic;
        Impossible::unless(dynamic, &["ftl.reclaim-groups", "ftl.allocation"], why)?;
        let reserve = PlacementPolicy::relocation_streams(&self.ftl.placement.persistently_isolated());
        // The thresholds have the blocks that an SLC cache sets aside.
        let own = self.set_aside(&layout)?;
        let kept = match config.soft_pages {
            Some(_) => config.hard_free.max(reserve + own),
            None => config.soft_free.max(reserve + 1 + own),
        };
        let borrows = self.ftl.slc.is_some_and(|slc| slc.borrows_blocks());
        let open = self.ftl.placement.blocks_of_lane() + if borrows { self.admitted_handles() } else { 0 };
        let needed = f64::from(kept + 2 + open) + 1.0;
        // A group may hold more valid data than others, by half of its spare space.
        let spare = if groups > 1 { spare / 2.0 } else { spare };
        let why = format!(
            "a lane has {spare:.1} spare blocks{}; {kept} to keep free, 2 open ones and {open} for {handles} placement handles \
             need at least {needed}",
            if groups > 1 { " in a full reclaim group" } else { "" }
        );
        Impossible::unless(spare >= needed, &["ftl.placement", "ftl.over-provisioning", "ftl.gc-soft"], why)
    }
}
