//! Commands of the drives: what each is for, those that wait for a place in a drive's queue, and traffic.

use crate::failure::mirror_resync::{CopyId, CopyRead, Sectors};
use crate::hedging::hedged_reads::HedgeId;
use crate::raid::layout::PageAddress;
use interpulse_engine::{Latencies, RequestId};
use std::collections::VecDeque;

/// Purpose of a drive command.
#[derive(Clone, Debug, Default)]
pub(crate) enum Command {
    /// Free slot.
    #[default]
    None,
    /// Part of a host request; `read` is the range of a read, which has failed `failures` times.
    Host { job: RequestId, read: Option<Sectors>, failures: u32 },
    /// First or second read of a hedged read.
    Hedged { id: HedgeId, second: bool },
    /// Pages of stripe heads at array position `drive`.
    Pages { heads: Vec<u32>, drive: u32 },
    /// Host write to one copy of `rows` rows.
    CopiedWrite { job: RequestId, first: PageAddress, rows: u32 },
    /// Read of a mirror resync.
    CopyRead(CopyRead),
    /// Write of a mirror resync: all rows, or one repaired page.
    CopyWrite { id: CopyId, drive: u32, all: bool },
    /// Log write of partial parity.
    Log { drive: u32, unit: u64 },
    /// Recovery of rows after a power cut.
    Recovery,
}

/// Commands of one drive.
#[derive(Clone, Default)]
pub(crate) struct DriveCommands {
    pub(crate) outstanding: u32,
    /// By command number.
    pub(super) commands: Vec<Command>,
    /// Commands that wait for a place in the drive's queue, and whether they are fail-fast reads; in order.
    waiting: VecDeque<(Command, bool)>,
    /// Completed commands of the measurement window.
    pub(crate) measured: Traffic,
}

impl DriveCommands {
    /// Stores the command that has the number `id`.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: RequestId, what: Command) {
        let id = id.index();
        self.outstanding += 1;
        let Some(free) = self.commands.get_mut(id) else {
            return self.note_first(id, what);
        };
        let nothing = std::mem::replace(free, what);
        // Forgetting it spares the drop check: the slot is empty.
        debug_assert!(matches!(nothing, Command::None), "the slot of {nothing:?} is in use");
        std::mem::forget(nothing);
    }

    /// Stores a command that waits for a place in the drive's queue.
    #[cold]
    pub(crate) fn hold(&mut self, what: Command, fail_fast: bool) {
        self.outstanding += 1;
        self.waiting.push_back((what, fail_fast));
    }

    /// The oldest waiting command has entered the queue with the number `id`; true for a fail-fast read.
    #[cold]
    #[inline(never)]
    pub(super) fn enter(&mut self, id: RequestId) -> bool {
        let (what, fail_fast) = self.waiting.pop_front().expect("a command of the array waits");
        self.outstanding -= 1;
        self.note(id, what);
        fail_fast
    }

    /// Commands submitted and not completed, with empty slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().chain(self.waiting.iter().map(|(command, _)| command))
    }

    /// Forgets all commands; returns those in the drive by number.
    pub(crate) fn lose_power(&mut self) -> Vec<Command> {
        self.outstanding = 0;
        self.waiting.clear();
        std::mem::take(&mut self.commands)
    }

    /// Stores a command whose number is used for the first time.
    #[cold]
    fn note_first(&mut self, id: usize, what: Command) {
        self.commands.resize_with(id, Command::default);
        self.commands.push(what);
    }
}

/// Commands that a drive completed in a measurement window. Their attribution by cause is checked but not stored: tables by
/// cause for each drive would cost more time than the rest of the array.
#[derive(Clone, Default)]
pub struct Traffic {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Command latencies.
    pub latencies: Latencies,
}
