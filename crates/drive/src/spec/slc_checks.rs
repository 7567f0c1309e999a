//! Consistency checks of an SLC cache.

use super::{DriveSpec, Impossible};
use crate::ftl::layout::Layout;
use crate::ftl::page::slc::{Admission, SlcSpec};

impl DriveSpec {
    pub(super) fn check_slc(&self, layout: &Layout) -> Result<(), Impossible> {
        let Some(slc) = &self.ftl.slc else { return Ok(()) };
        let kind = "ftl.slc-cache.kind";
        let why = "the cells of the part have one bit: there is no other mode for a cache";
        Impossible::unless(self.part.bits_per_cell > 1, &[kind, "part.bits-per-cell"], why)?;
        let why =
            "the part has no section part.slc-mode with its times in SLC mode; starblaze-tlc3d-typ has one";
        Impossible::unless(self.part.slc_mode.is_some(), &[kind, "part.preset"], why)?;
        let why = "imposed write amplification has no blocks that could be in SLC mode";
        Impossible::unless(!self.ftl.gc.imposes(), &[kind, "ftl.gc"], why)?;
        let why = "hot data would go to reprogrammable blocks and to the SLC cache: one of them only";
        Impossible::unless(self.ftl.reprogram.is_none(), &[kind, "ftl.reprogram"], why)?;
        let hot = self.ftl.hotness.levels();
        let admission = "ftl.slc-cache.admission";
        let why = "with separation hot data goes through the SLC cache: choose all-writes";
        Impossible::unless(
            hot == 0 || slc.admission == Admission::AllWrites,
            &[admission, "ftl.hotness"],
            why,
        )?;
        self.check_admitted_handles(slc, layout)?;
        let blocks = slc.blocks_of_lane(&self.geometry, self.ftl.multi_plane);
        let why = format!(
            "{blocks} super blocks of each lane in SLC mode hold this much, but a lane has {}, of which at least 4 are for other \
             data",
            layout.blocks
        );
        let keys = ["ftl.slc-cache.size", "part.blocks-per-plane"];
        Impossible::unless(blocks.saturating_add(4) <= layout.blocks, &keys, why)?;
        if !slc.borrows_blocks() {
            return Ok(());
        }
        if self.ftl.placement.handles() > 0 {
            // The check of placement handles counts the open blocks of the cache too.
            return Ok(());
        }
        let config = self.ftl_config()?;
        let per_lane =
            f64::from(config.logical_units) / f64::from(layout.lanes) / f64::from(layout.units_per_block);
        let own = slc.own_blocks_of_lane(&self.geometry, self.ftl.multi_plane);
        let spare = f64::from(layout.blocks - own) - per_lane;
        let needed = f64::from(config.soft_free + 3 + hot) + 1.0;
        let why = format!(
            "a lane has {spare:.1} spare blocks; {} to keep free and {} open ones, one in SLC mode, need at least {needed}",
            config.soft_free,
            3 + hot
        );
        let keys = [kind, "ftl.over-provisioning", "ftl.gc-soft"];
        Impossible::unless(spare >= needed, &keys, why)
    }

    /// Checks a cache before which writes name placement handles, and handles that it is to admit.
    fn check_admitted_handles(&self, slc: &SlcSpec, layout: &Layout) -> Result<(), Impossible> {
        let (admission, placement) = ("ftl.slc-cache.admission", "ftl.placement");
        let handles = self.ftl.placement.handles();
        if let Some(named) = slc.admission.handles() {
            let why = "writes name no placement handle: set ftl.placement to \"streams\" or \"fdp\", or choose another admission";
            Impossible::unless(handles > 0, &[admission, placement], why)?;
            let highest = named.highest();
            let why =
                format!("there is no handle {highest}: the handles are 0 to {}", handles.saturating_sub(1));
            let keys = ["ftl.slc-cache.admitted-handles", placement];
            Impossible::unless(highest < handles, &keys, why)?;
        }
        if handles == 0 {
            return Ok(());
        }
        let why = "with placement handles the handle of a write decides, not its size: choose all-writes or by-handle";
        Impossible::unless(slc.admission.largest_write().is_none(), &[admission, placement], why)?;
        let why = "what the lanes of a reclaim group hold in SLC mode does not count for whether the group is full: use one group";
        let keys = ["ftl.reclaim-groups", "ftl.slc-cache.kind"];
        Impossible::unless(self.ftl.placement.groups() == 1, &keys, why)?;
        let blocks = slc.blocks_of_lane(&self.geometry, self.ftl.multi_plane).min(layout.blocks);
        let admitted = self.admitted_handles();
        let why = format!(
            "each of {admitted} handles has an open block of its own in SLC mode on each lane, whose share of this size is {blocks}"
        );
        Impossible::unless(blocks >= admitted, &["ftl.slc-cache.size", placement], why)
    }

    /// Placement handles whose writes go through an SLC cache.
    pub(super) fn admitted_handles(&self) -> u32 {
        let admits = |handle: &u32| self.ftl.slc.is_some_and(|slc| slc.admission.admits(*handle));
        (0..self.ftl.placement.handles()).filter(admits).count() as u32
    }

    /// Super blocks of each lane that an SLC cache sets aside.
    pub(super) fn set_aside(&self, layout: &Layout) -> Result<u32, Impossible> {
        let own = self.ftl.set_aside(&self.geometry);
        let why = format!(
            "an SLC cache of this size sets {own} super blocks of each lane aside, of {}; at least 4 are for other data",
            layout.blocks
        );
        let keys = ["ftl.slc-cache.size", "part.blocks-per-plane"];
        Impossible::unless(own.saturating_add(4) <= layout.blocks, &keys, why)?;
        Ok(own)
    }
}
