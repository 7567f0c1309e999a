//! Consistency checks of reprogrammable blocks.

use super::{DriveSpec, Impossible};
use crate::ftl::page::reprogram::super_layer_word_lines;

impl DriveSpec {
    pub(super) fn check_reprogramming(&self) -> Result<(), Impossible> {
        let hot = self.ftl.hotness.levels();
        if hot == 0 {
            return Ok(());
        }
        let why = "imposed write amplification has no blocks to separate data by";
        Impossible::unless(!self.ftl.gc.imposes(), &["ftl.hotness", "ftl.gc"], why)?;
        let layout = self.layout()?;
        let config = self.ftl_config()?;
        let per_lane =
            f64::from(config.mapped_units()) / f64::from(layout.lanes) / f64::from(layout.units_per_block);
        let spare = f64::from(layout.blocks) - per_lane;
        // Besides the free reserve: an open block of each level, and the candidates.
        let open = match &self.ftl.reprogram {
            Some(of) => hot * (1 + of.candidates),
            None => hot,
        };
        // A free-page threshold includes the pages of open blocks.
        let kept = if config.soft_pages.is_some() { config.hard_free } else { config.soft_free };
        let fixed = if config.translation_pages > 0 { 3 } else { 2 };
        let needed = f64::from(kept + fixed + open) + 1.0;
        let why = format!(
            "a lane has {spare:.1} spare blocks; {kept} to keep free, {fixed} open ones and {open} for {hot} hot levels need at \
             least {needed}"
        );
        let keys = ["ftl.hotness", "ftl.over-provisioning", "ftl.gc-soft"];
        Impossible::unless(spare >= needed, &keys, why)?;
        let Some(of) = &self.ftl.reprogram else { return Ok(()) };
        let why = "the part has no section part.reprogram with the times of reprogramming; ressd-tlc has one";
        Impossible::unless(self.part.reprogram.is_some(), &["ftl.reprogram", "part.preset"], why)?;
        Impossible::unless(
            super_layer_word_lines(layout.word_lines_per_block(), self.part.layers, 1) * self.part.layers
                == layout.word_lines_per_block(),
            &["part.layers", "part.pages-per-block"],
            format!(
                "{} word lines do not fill {} layers evenly, as super layers need",
                layout.word_lines_per_block(),
                self.part.layers
            ),
        )?;
        debug_assert!((1..=2).contains(&of.super_layer));
        Ok(())
    }
}
