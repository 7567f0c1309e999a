//! Check of sub-blocks: rewrites for their reads must not cause one another.

use super::{DriveSpec, Impossible};

/// Reads that a rewrite may cause, at most one part in this many of the limit; failed reads are repeated.
const SHARE: u64 = 8;

impl DriveSpec {
    /// The rewrite of a sub-block reads its pages and erases it, which disturbs the others of its block.
    pub(super) fn check_sub_blocks(&self) -> Result<(), Impossible> {
        let of = &self.part.sub_blocks;
        let Some(limit) = self.nand.errors.as_ref().and_then(|errors| errors.reclaim_reads) else {
            return Ok(());
        };
        if of.count == 1 {
            return Ok(());
        }
        let rewrite = u64::from(self.geometry.pages_per_block()) + u64::from(of.spec.disturb);
        let least = SHARE * u64::from(of.count) * rewrite;
        let why = format!(
            "rewrites of the {} sub-blocks of a block, each with the disturb of {rewrite} reads, would cause one another: at least \
             {least}",
            of.count
        );
        let keys = ["errors.reclaim-reads", "part.sub-blocks", "part.sub-block-disturb"];
        Impossible::unless(u64::from(limit) >= least, &keys, why)
    }
}
