//! Failed blocks of a zoned drive: replaced by reserved ones, retired, or kept in use.

use crate::ftl::layout::Layout;
use crate::ftl::page::blocks::wear::Wear;
use crate::ftl::page::wear::bad_blocks::BadBlocks;
use crate::ftl::page::wear::health::Health;
use crate::spec::DriveSpec;
use interpulse_engine::Streams;

/// Failed blocks of a zoned drive.
pub(super) struct ZoneFailures {
    pub(super) bad_blocks: Box<BadBlocks>,
    /// Super blocks retired of each lane.
    pub(super) retired: Vec<u32>,
    /// Whether each super block has failed and is still in use.
    pub(super) kept: Vec<bool>,
}

impl ZoneFailures {
    /// State of a drive with the checked `spec`, whose super blocks have these cycles; `None` without faults.
    pub(super) fn new(
        spec: &DriveSpec,
        layout: &Layout,
        cycles: &[u32],
        streams: &Streams,
    ) -> Option<Box<ZoneFailures>> {
        let bad_blocks = BadBlocks::new(spec, layout, Wear::of(cycles).sum, streams)?;
        let (retired, kept) = (vec![0; layout.lanes as usize], vec![false; cycles.len()]);
        Some(Box::new(ZoneFailures { bad_blocks, retired, kept }))
    }

    /// Health of the drive.
    pub(super) fn health(&self) -> Health {
        self.bad_blocks.health()
    }

    /// Compares failures with blocks, replaced ones and `erases` since the start. Err is the first inconsistency.
    pub(super) fn audit(&self, cycles: &[u32], erases: u64) -> Result<(), String> {
        let (failed, replaced) = (self.health().grown_bad_blocks, self.bad_blocks.replaced());
        let retired: u64 = self.retired.iter().map(|&n| u64::from(n)).sum();
        let kept = self.kept.iter().filter(|&&kept| kept).count() as u64;
        if failed != replaced + retired + kept {
            return Err(format!(
                "{failed} blocks have failed, {replaced} were replaced, {retired} retired and {kept} kept"
            ));
        }
        self.bad_blocks.audit_cycles(Wear::of(cycles).sum, erases)
    }
}
