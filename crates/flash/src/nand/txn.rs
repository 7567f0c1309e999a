//! Transactions: flash operations of the drive, and the slab that holds them.

use crate::cell_mode::CellMode;
use crate::command::{Effect, WAITS};
use crate::geometry::{BlockAddress, Planes, Timing};
use crate::ids::{BlockId, DieId, TxnId};
use crate::reprogram::Bit;
use interpulse_engine::{Duration, SimTime};

pub use crate::command::Kind;

/// Receiver of a transaction's outcome. The submitter defines what class and index mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Kind of receiver.
    pub class: u8,
    /// Number of the receiver in its class.
    pub index: u32,
}

/// One operation for one die.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    /// Command.
    pub kind: Kind,
    /// The die.
    pub die: DieId,
    /// First plane addressed; a die has at most 64. Bytes, so that a transaction fits into two cache lines.
    pub plane: u8,
    /// Planes addressed together.
    pub planes: u8,
    /// Block within the plane(s), or [`BlockId::NONE`].
    pub block: BlockId,
    /// First page within the block.
    pub page: u32,
    /// Units moved by a read ([`Txn::units`]); of a reprogram Validity ([`Txn::validity`]) and, above it, the page. Above it,
    /// also the mark of a copyback.
    units_or_validity: u16,
    /// [`Owner::class`]; apart from the index, so that both fit into gaps.
    owner_class: u8,
    /// Mode of the block.
    mode: CellMode,
    /// [`Owner::index`].
    owner_index: u32,
    /// Attempts of a read ([`Txn::attempt`]), or P/E cycles of the block of a program or erase ([`Txn::cycles`]).
    attempts_or_cycles: u32,
    /// Order of submission.
    pub seq: u64,
    /// When it was submitted; while waiting, the instant up to which `waits` is booked.
    pub mark: SimTime,
    /// Until a read starts, and until a program of host data is complete: the die's cumulative causes at
    /// submission; then the account, in ns by [`crate::command::Wait`].
    pub waits: [u64; WAITS],
    /// A completed program of host data: its loads, pulses and verifies, in ns, and what it waited for a share of the
    /// power budget before its pulses; with `waits` it adds up to the time from submission (`mark`) to completion. A
    /// completed read: the time after its first decode, when that has failed; until then the instant of that.
    pub own: u64,
    /// A read: what it waited, once started, for a share of the power budget. With `waits` it adds up to the time from
    /// submission to the end of its first transfer.
    pub held: u64,
    flags: u8,
    pub(super) next: TxnId,
}

impl Txn {
    /// A transaction of `kind` on `die`; address fields are set by the caller.
    pub fn new(kind: Kind, die: DieId) -> Txn {
        Txn {
            kind,
            die,
            plane: 0,
            planes: 1,
            block: BlockId::NONE,
            page: 0,
            units_or_validity: 0,
            owner_class: 0,
            mode: CellMode::Native,
            owner_index: 0,
            attempts_or_cycles: 0,
            seq: 0,
            mark: SimTime::ZERO,
            waits: [0; WAITS],
            own: 0,
            held: 0,
            flags: 0,
            next: TxnId::NONE,
        }
    }
}

impl Txn {
    /// [`Txn::units`] of a read that moves a part of a unit: the bytes of [`Nand::set_part_of_unit`](super::Nand::set_part_of_unit).
    pub const PART_OF_UNIT: u32 = 0;
    /// Mark of a copyback, besides those of the pages of a reprogram.
    const COPYBACK: u16 = 3;
    /// Mark of the first step of a word line.
    const FIRST_STEP: u16 = 4;
    /// Mark of the second step.
    const SECOND_STEP: u16 = 5;
    /// The decode under way will fail.
    pub(super) const FAILS: u8 = 1;
    /// The data came from the page buffer: no sensing, no errors.
    pub(super) const BUFFERED: u8 = 2;
    /// The first decode has failed.
    pub(super) const RETRY: u8 = 4;
    /// No attempt has corrected the data.
    pub(super) const UNCORRECTABLE: u8 = 8;
    /// The block has reached its limit of reads.
    pub(super) const WORN_BY_READS: u8 = 16;
    /// The owner is notified before the end.
    const EARLY: u8 = 32;
    /// Nothing corrects the data.
    pub(super) const LOST: u8 = 64;
    /// The ECC outcome of the sensing is decided before its data moves.
    pub(super) const JUDGED: u8 = 128;
    /// An erase is of all sub-blocks of the block; of a read the bit is another mark.
    const WHOLE_BLOCK: u8 = Txn::JUDGED;

    /// Receiver of the outcome; class 0, index 0 unless set.
    #[inline]
    pub fn owner(&self) -> Owner {
        Owner { class: self.owner_class, index: self.owner_index }
    }

    /// Sets the receiver of the outcome.
    #[inline]
    pub fn set_owner(&mut self, owner: Owner) {
        (self.owner_class, self.owner_index) = (owner.class, owner.index);
    }

    /// Notifies the owner of the end of this read as soon as it is certain, when its data moves into the decoder, rather than
    /// when it is decoded ([`Ended::at`](super::Ended)).
    #[inline]
    pub fn complete_early(&mut self) {
        self.flags |= Txn::EARLY;
    }

    #[inline]
    pub(super) fn completes_early(&self) -> bool {
        self.is(Txn::EARLY)
    }

    /// Makes this erase of a sub-block one of all sub-blocks of its block together.
    #[inline]
    pub fn set_whole_block(&mut self) {
        debug_assert!(self.kind.command().effect == Effect::Erases);
        self.flags |= Txn::WHOLE_BLOCK;
    }

    /// Whether this erases all sub-blocks of its block.
    #[inline]
    pub fn is_of_whole_block(&self) -> bool {
        self.is(Txn::WHOLE_BLOCK)
    }

    /// Units that this read moves.
    #[inline]
    pub fn units(&self) -> u32 {
        debug_assert!(self.reads());
        u32::from(self.units_or_validity)
    }

    /// Sets the number of units this read moves.
    #[inline]
    pub fn set_units(&mut self, units: u32) {
        debug_assert!(units <= u32::from(u16::MAX));
        self.units_or_validity = units as u16;
    }

    /// Validity of the word line that this program changes, which the die checks.
    #[inline]
    pub fn validity(&self) -> u8 {
        debug_assert!(!self.reads());
        self.units_or_validity as u8
    }

    /// Sets which pages of the word line are in use.
    #[inline]
    pub fn set_validity(&mut self, validity: u8) {
        self.units_or_validity = self.units_or_validity & !0xff | u16::from(validity);
    }

    /// P/E cycles of the block of this program or erase, for the erase train and for the eligibility to be suspended.
    #[inline]
    pub fn cycles(&self) -> u32 {
        debug_assert!(!self.reads());
        self.attempts_or_cycles
    }

    /// Sets the P/E cycles of the block of this program or erase.
    #[inline]
    pub fn set_cycles(&mut self, cycles: u32) {
        self.attempts_or_cycles = cycles;
    }

    fn reads(&self) -> bool {
        self.kind.command().effect == Effect::Reads
    }

    /// Further attempts of a read after its first sensing: retry steps, then stages of soft decoding.
    #[inline]
    pub fn attempt(&self) -> u8 {
        (self.attempts_or_cycles >> 16) as u8
    }

    /// Attempt of the error table that the first data of a read came from.
    #[inline]
    pub(super) fn first_step(&self) -> u8 {
        (self.attempts_or_cycles >> 24) as u8
    }

    /// Errors of the worst codeword of the last hard decode of a read.
    #[inline]
    pub(super) fn errors(&self) -> u32 {
        self.attempts_or_cycles & 0xffff
    }

    /// Sets first step, further attempts and errors of a read.
    #[inline]
    pub(super) fn set_attempts(&mut self, first_step: u8, attempt: u8, errors: u32) {
        self.attempts_or_cycles = u32::from(first_step) << 24 | u32::from(attempt) << 16 | errors.min(0xffff);
    }

    #[inline]
    pub(super) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn set(&mut self, flag: u8) {
        self.flags |= flag;
    }

    #[inline]
    pub(super) fn put(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Sets the mode of the block that this reads or programs; native otherwise.
    #[inline]
    pub fn set_cell_mode(&mut self, mode: CellMode) {
        self.mode = mode;
    }

    /// The mode of the block that this reads or programs.
    #[inline]
    pub fn cell_mode(&self) -> CellMode {
        self.mode
    }

    /// Makes this program a reprogram, which gives the page of `bit` new data.
    #[inline]
    pub fn set_reprogram(&mut self, bit: Bit) {
        debug_assert!(!self.reads());
        self.units_or_validity = self.units_or_validity & 0xff | (bit as u16 + 1) << 8;
    }

    /// The page that a reprogram gives new data; `None` for all other programs and erases.
    #[inline]
    pub fn reprograms(&self) -> Option<Bit> {
        debug_assert!(!self.reads());
        match self.units_or_validity >> 8 {
            0 => None,
            1 => Some(Bit::Lsb),
            2 => Some(Bit::Msb),
            _ => None,
        }
    }

    /// Whether this program is not of a whole word line in one step: a reprogram, copyback or step.
    #[inline]
    pub(super) fn is_special(&self) -> bool {
        self.units_or_validity >> 8 != 0
    }

    /// Makes this program a copyback, whose data the die senses.
    #[inline]
    pub(super) fn set_copyback(&mut self) {
        debug_assert!(!self.reads());
        self.units_or_validity = Txn::COPYBACK << 8;
    }

    /// Makes this program the first step of its word line.
    #[inline]
    pub(super) fn set_first_step(&mut self) {
        self.units_or_validity = Txn::FIRST_STEP << 8;
    }

    /// Whether this program is the first step of its word line.
    #[inline]
    pub fn is_first_step(&self) -> bool {
        self.units_or_validity >> 8 == Txn::FIRST_STEP
    }

    /// Makes this program the second step of its word line.
    #[inline]
    pub(super) fn set_second_step(&mut self) {
        self.units_or_validity = Txn::SECOND_STEP << 8;
    }

    /// Whether this program is the second step of its word line.
    #[inline]
    pub fn is_second_step(&self) -> bool {
        self.units_or_validity >> 8 == Txn::SECOND_STEP
    }

    /// Whether this program is a copyback.
    #[inline]
    pub fn is_copyback(&self) -> bool {
        self.units_or_validity >> 8 == Txn::COPYBACK
    }

    /// tR of the page that this reads, which is of this type.
    #[inline]
    pub fn sensing(&self, timing: &Timing, page_type: usize) -> Duration {
        self.cell_mode().sensing(timing, page_type)
    }

    /// Whether the first decode of this read has failed.
    #[inline]
    pub fn is_retry(&self) -> bool {
        self.is(Txn::RETRY)
    }

    /// Lets this read, which has not been submitted yet, find data that nothing corrects.
    #[inline]
    pub fn set_lost(&mut self) {
        self.set(Txn::LOST | Txn::UNCORRECTABLE);
    }

    /// Whether this completed read has uncorrected errors.
    #[inline]
    pub fn is_uncorrectable(&self) -> bool {
        self.is(Txn::UNCORRECTABLE)
    }

    /// Whether this read was the one that reached the limit of reads of its block ([`crate::errors::ErrorSpec`]).
    #[inline]
    pub fn needs_reclaim(&self) -> bool {
        self.is(Txn::WORN_BY_READS)
    }

    /// The block on one of its planes.
    #[inline]
    pub(super) fn block_on(&self, plane: u32) -> BlockAddress {
        BlockAddress { die: self.die, plane, block: self.block }
    }

    /// Planes addressed.
    pub(super) fn planes(&self) -> Planes {
        Planes { first: self.plane.into(), count: self.planes.into() }
    }
}

/// Two cache lines.
const _: () = assert!(size_of::<Txn>() == 128);

/// Transactions under way, by number.
pub type Slab = interpulse_engine::Slab<TxnId, Txn>;
