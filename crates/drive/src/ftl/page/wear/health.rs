//! Health of a drive: the totals that NVMe reports as SMART / Health Information (log page 02h).

use interpulse_engine::SimTime;

/// Bad blocks, spare blocks and wear of one drive. Blocks are super blocks unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Blocks of planes that were bad when the drive was made.
    pub factory_bad_blocks: u64,
    /// Reserved blocks at the start of the run.
    pub spare_at_start: u64,
    /// Reserved blocks left.
    pub spare: u64,
    /// Fewest reserved blocks left of a lane.
    pub least_spare_of_lane: u64,
    /// Blocks that have failed since the start of the run, or before it where its wear was drawn.
    pub grown_bad_blocks: u64,
    /// Erases that have failed.
    pub erase_failures: u64,
    /// Programs that have failed.
    pub program_failures: u64,
    /// Cycles of the blocks that have been replaced.
    pub retired_cycles: u64,
    /// Mean cycles at which the first lane lacks a reserved block, where the wear before the run was drawn.
    pub reserve_ends_at: Option<u32>,
    /// When a lane needed a reserved block and had none, or the dies left did not hold all data.
    pub read_only_since: Option<SimTime>,
    /// Whether the configuration injects faults; without them the following values are zero.
    pub injects: bool,
    /// Dies that have failed.
    pub dead_dies: u64,
    /// Bytes of logical units that became uncorrectable.
    pub lost_bytes: u64,
    /// Of these, bytes that have not been written or trimmed since.
    pub lost_bytes_at_end: u64,
    /// Page reads of the host that found such data.
    pub lost_reads: u64,
}

impl Health {
    /// Combines the health of two drives.
    #[must_use]
    pub fn and(self, other: Health) -> Health {
        let first = [self.read_only_since, other.read_only_since].into_iter().flatten().min();
        let end = [self.reserve_ends_at, other.reserve_ends_at].into_iter().flatten().min();
        Health {
            factory_bad_blocks: self.factory_bad_blocks + other.factory_bad_blocks,
            spare_at_start: self.spare_at_start + other.spare_at_start,
            spare: self.spare + other.spare,
            least_spare_of_lane: self.least_spare_of_lane.min(other.least_spare_of_lane),
            grown_bad_blocks: self.grown_bad_blocks + other.grown_bad_blocks,
            erase_failures: self.erase_failures + other.erase_failures,
            program_failures: self.program_failures + other.program_failures,
            retired_cycles: self.retired_cycles + other.retired_cycles,
            reserve_ends_at: end,
            read_only_since: first,
            injects: self.injects || other.injects,
            dead_dies: self.dead_dies + other.dead_dies,
            lost_bytes: self.lost_bytes + other.lost_bytes,
            lost_bytes_at_end: self.lost_bytes_at_end + other.lost_bytes_at_end,
            lost_reads: self.lost_reads + other.lost_reads,
        }
    }
}
