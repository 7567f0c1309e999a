//! Consistency checks of drives with log blocks.

use super::{DriveSpec, Fault, Impossible};
use crate::ftl::log_block::spec::MergeExtent;

impl DriveSpec {
    /// Checks what a drive with log blocks does not go together with.
    pub(super) fn check_log_blocks(&self) -> Result<(), Impossible> {
        let family = "ftl.family";
        let goes = |holds, key, why: &str| Impossible::unless(holds, &[key, family], why);
        let why = "the map of log blocks is not rebuilt after a loss of power: leave out [power-loss]";
        goes(self.power_loss.is_none(), "power-loss.at", why)?;
        let why = "blocks and dies that fail are not followed in merges: leave out [faults], and the [[fault]] tables of other \
                   kinds than \"stall\"";
        goes(self.faults.is_none(), self.fault_key(), why)?;
        goes(self.schedule.iter().all(Fault::stalls), "fault.0.kind", why)?;
        let why = "a write that is smaller than a program waits in the cache for others of its log block, and would never be \
                   complete: leave out cache.acknowledge, and give a cache";
        let key = if self.cache.is_absent() { "cache.size" } else { "cache.acknowledge" };
        goes(!self.cache.acknowledge.waits_for_programs(), key, why)?;
        let errors = self.nand.errors.as_ref();
        let why = "merges rewrite what the host overwrites; blocks are not rewritten for their age or reads";
        let refreshes = errors.is_some_and(|errors| errors.refresh_after.is_some());
        goes(!refreshes, "errors.refresh-after", why)?;
        let reclaims = errors.is_some_and(|errors| errors.reclaim_reads.is_some());
        goes(!reclaims, "errors.reclaim-reads", why)?;
        self.check_merges()
    }

    fn check_merges(&self) -> Result<(), Impossible> {
        let merge = "ftl.log-block-merge";
        if self.ftl.log_blocks.is_none_or(|of| of.merge == MergeExtent::Blocks) {
            return Ok(());
        }
        let why = "merges erase sub-blocks apart: give part.sub-blocks above 1, or merge whole blocks";
        Impossible::unless(self.geometry.sub_blocks > 1, &[merge, "part.sub-blocks"], why)?;
        let why = "the erase of a whole block does not wait for second steps in each of its sub-blocks: merge whole blocks";
        Impossible::unless(self.part.two_step.is_none(), &[merge, "part.program-mode"], why)
    }
}
