//! Log blocks, and the state of a lane.

use super::geometry::LogicalBlock;
use super::map::Entry;
use crate::numbers::{Lane, Lpn, Slot, SuperBlock};

interpulse_engine::numbers! {
    /// An open log block.
    LogId
}

/// No log block.
pub(super) const NO_LOG: LogId = LogId(u32::MAX);
/// A place in a log block that holds no unit.
pub(super) const NO_UNIT: Lpn = Lpn(u32::MAX);

/// A log block.
#[derive(Clone, Debug)]
pub(super) struct LogBlock {
    pub(super) block: SuperBlock,
    /// The logical block whose units it has; `None` if units of all of the lane share it.
    pub(super) of: Option<LogicalBlock>,
    /// Each unit so far is at its own offset of the logical block, and none was passed over.
    pub(super) is_sequential: bool,
    /// Programs submitted.
    pub(super) programs: u32,
    pub(super) in_flight: u32,
    /// Units by place, [`NO_UNIT`] padding.
    pub(super) units: Vec<Lpn>,
    /// Number of its last program among those of the drive.
    pub(super) used: u64,
}

/// Full or partial merge of a logical block in progress: program by program, page reads and then the program.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    pub(super) of: LogicalBlock,
    /// Erased super block, or with a partial merge the log block, that becomes the data block.
    pub(super) to: SuperBlock,
    /// Log blocks of the logical block that are erased at the end.
    pub(super) logs: Vec<LogId>,
    /// The program that is read, or written next.
    pub(super) next: u32,
    /// Programs that the merge fills.
    pub(super) end: u32,
    /// Page reads of the next program in flight.
    pub(super) reads: u32,
    /// Programs in flight.
    pub(super) programs: u32,
    /// Whether the next program has been read.
    pub(super) is_read: bool,
    /// Entry of each unit when it was copied; [`Entry::NOWHERE`] of units that were not.
    pub(super) copied: Vec<Entry>,
    /// State of a merge in place, whose `to` is the data block.
    pub(super) in_place: Option<InPlace>,
}

/// What a merge in place does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InPlaceStep {
    /// Selects a sub-block.
    Select,
    /// Reads the pages of the sub-block.
    Read,
    /// Waits for host reads of the sub-block that may be repeated.
    Wait,
    /// Erases the sub-block.
    Erase,
    /// Programs the sub-block.
    Program,
}

/// State of a merge in place.
#[derive(Clone, Debug)]
pub(super) struct InPlace {
    /// Sub-blocks to rewrite, the last first.
    pub(super) left: Vec<u32>,
    /// The one that is rewritten.
    pub(super) sub_block: u32,
    pub(super) step: InPlaceStep,
}

/// State of a lane.
#[derive(Default)]
pub(super) struct LogLane {
    /// Open log blocks for data of any order, the oldest first.
    pub(super) logs: Vec<LogId>,
    /// Log block for a sequential stream (FAST).
    pub(super) sequential: Option<LogId>,
    /// Logical block whose first unit was written last (FAST): a stream may begin.
    pub(super) starting: Option<LogicalBlock>,
    /// Dirty units.
    pub(super) dirty: u32,
    /// Whether the last program was of the sequential log block (FAST).
    pub(super) was_sequential: bool,
    /// Log block whose units are being merged (FAST).
    pub(super) victim: Option<LogId>,
    /// Merge in progress.
    pub(super) merge: Option<Merge>,
    /// Programs of host data in flight.
    pub(super) in_flight: u32,
    /// Whether the lane is in the list of those to continue.
    pub(super) is_listed: bool,
    /// Whether the first program of the lane waits for a merge or an erase.
    pub(super) waits: bool,
}

/// A program of host data in flight.
#[derive(Clone, Debug)]
pub(super) struct LogProgram {
    pub(super) lane: Lane,
    pub(super) log: LogId,
    pub(super) program: u32,
    /// Cache slots of its units.
    pub(super) slots: Vec<Slot>,
}
