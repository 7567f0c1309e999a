//! Transactions: what the drive asks of a die, and the slab they live in.

use crate::die::usage::WAITS;
use interpulse_engine::SimTime;

/// What a transaction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A read for the host.
    HostRead,
    /// A read for garbage collection.
    GcRead,
    /// A program of host data.
    HostProgram,
    /// A program of moved data.
    GcProgram,
    /// An erase.
    Erase,
}

/// Number of [`Kind`] values.
pub const KINDS: usize = 5;

/// No transaction.
pub const NONE: u32 = u32::MAX;

/// The block number of an operation that is timed but touches no block (imposed write amplification).
pub const NO_BLOCK: u32 = u32::MAX;

/// One operation for one die.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    /// What is asked for.
    pub kind: Kind,
    /// The die.
    pub die: u32,
    /// First plane addressed.
    pub plane: u32,
    /// Planes addressed together.
    pub planes: u32,
    /// Block within the plane(s), or [`NO_BLOCK`].
    pub block: u32,
    /// First page within the block.
    pub page: u32,
    /// Units moved by a read.
    pub units: u32,
    /// The drive's own reference.
    pub owner: u32,
    /// P/E cycles of the block, for the erase train and for the eligibility to be suspended.
    pub cycles: u32,
    /// Order of submission.
    pub seq: u64,
    /// When it was submitted; while waiting, the instant up to which `waits` is booked.
    pub mark: SimTime,
    /// Until a read starts, and until a program of host data is complete: the die's cumulative causes at
    /// submission; then the account, in ns by [`crate::die::usage::Wait`].
    pub waits: [u64; WAITS],
    /// A completed program of host data: its loads, pulses and verifies, in ns. With `waits` it adds up to the
    /// time from submission (`mark`) to completion.
    pub own: u64,
    pub(super) next: u32,
}

impl Txn {
    /// A transaction of `kind` on `die`; address fields are set by the caller.
    pub fn new(kind: Kind, die: u32) -> Txn {
        Txn {
            kind,
            die,
            plane: 0,
            planes: 1,
            block: NO_BLOCK,
            page: 0,
            units: 0,
            owner: NONE,
            cycles: 0,
            seq: 0,
            mark: SimTime::ZERO,
            waits: [0; WAITS],
            own: 0,
            next: NONE,
        }
    }
}

/// Transactions under way, by number.
pub type Slab = interpulse_engine::Slab<Txn>;
