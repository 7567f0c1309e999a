//! Consistency checks of an SLC cache.

use super::{DriveSpec, Impossible};
use crate::ftl::layout::Layout;

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
        let why = "with separation hot data goes through the SLC cache, writes of any size";
        let keys = ["ftl.slc-cache.largest-write", "ftl.hotness"];
        Impossible::unless(hot == 0 || slc.largest_write.is_none(), &keys, why)?;
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
