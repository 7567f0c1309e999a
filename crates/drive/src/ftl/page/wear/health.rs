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
    /// Blocks that have failed since the start of the run.
    pub grown_bad_blocks: u64,
    /// Erases that have failed.
    pub erase_failures: u64,
    /// Programs that have failed.
    pub program_failures: u64,
    /// Cycles of the blocks that have been replaced.
    pub retired_cycles: u64,
    /// When a lane needed a reserved block and had none.
    pub read_only_since: Option<SimTime>,
}

impl Health {
    /// Combines the health of two drives.
    #[must_use]
    pub fn and(self, other: Health) -> Health {
        let first = [self.read_only_since, other.read_only_since].into_iter().flatten().min();
        Health {
            factory_bad_blocks: self.factory_bad_blocks + other.factory_bad_blocks,
            spare_at_start: self.spare_at_start + other.spare_at_start,
            spare: self.spare + other.spare,
            least_spare_of_lane: self.least_spare_of_lane.min(other.least_spare_of_lane),
            grown_bad_blocks: self.grown_bad_blocks + other.grown_bad_blocks,
            erase_failures: self.erase_failures + other.erase_failures,
            program_failures: self.program_failures + other.program_failures,
            retired_cycles: self.retired_cycles + other.retired_cycles,
            read_only_since: first,
        }
    }
}
