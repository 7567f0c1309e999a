//! Program or erase on a die, and the time of its train.

use crate::cell_mode::CellMode;
use crate::command::{Effect, Kind};
use crate::geometry::{Pages, Planes};
use crate::ids::BlockId;
use crate::pulse::PulseTrain;
use crate::reprogram::Bit;
use crate::suspend::{Stop, Suspended};
use interpulse_engine::{Duration, SimTime};

/// A program or an erase on the die, running or suspended.
#[derive(Clone, Copy, Debug)]
pub struct LongOp {
    /// Command.
    pub kind: Kind,
    /// Effect of the command.
    pub effect: Effect,
    /// Its pulses.
    pub train: PulseTrain,
    /// Instant of zero progress without suspensions: progress = now - origin while pulsing.
    pub(super) origin: SimTime,
    /// When its pulses were last put on the die; they may have begun a little later, behind their command.
    pub(super) commanded: SimTime,
    /// When its pulses last started or went on.
    pub(super) began: SimTime,
    /// Progress at the last stop, or at the end of the last slice.
    pub(super) kept: Duration,
    /// Progress at which its pulses end if nothing stops them: that of the train or, under `sliced`, of the slice.
    pub(super) until: Duration,
    /// When its pulses last went on after a suspension, or started.
    pub(super) resumed: SimTime,
    /// Suspensions so far.
    pub suspends: u32,
    /// When it was first suspended.
    pub(super) first_suspend: SimTime,
    /// When it was last suspended.
    pub(super) halted: SimTime,
    /// Time it has spent suspended, from halts to resumed pulses.
    pub(super) suspended: Duration,
    /// Steps by which compensated resumes have lowered its voltage.
    pub(super) fallen: f64,
    /// When it was put on the die.
    pub started: SimTime,
    /// Whether it may be suspended at all.
    pub may_stop: bool,
    /// Whether it is commanded in slices.
    pub sliced: bool,
    /// Whether a slice has ended, no suspension followed, and the next slice has not begun.
    pub(super) between_slices: bool,
    /// Number of its suspension policy, the one with which it began.
    pub policy: u32,
    /// What was submitted before this transaction number waited at its last stop.
    pub batch_end: u64,
    /// The stop being carried out, or the last one.
    pub(super) stop: Stop,
    /// Block it works on, for history and legality; `None` for operations without an address.
    pub block: Option<BlockId>,
    /// Planes it works on.
    pub planes: Planes,
    /// Number of planes it works on, those of programs that pulse together with it included.
    pub width: u32,
    /// Pages a program writes on each plane; none without an address.
    pub pages: Pages,
    /// Mode in which a program writes.
    pub mode: CellMode,
    /// The page that a reprogram gives new data.
    pub reprograms: Option<Bit>,
}

impl LongOp {
    /// Whether it is an erase.
    pub fn erases(&self) -> bool {
        self.effect == Effect::Erases
    }

    /// Progress at its last stop, or at the end of its last slice.
    pub fn kept(&self) -> Duration {
        self.kept
    }

    /// Whether its pulses end with a slice, before those of the train.
    #[inline]
    pub fn ends_with_slice(&self) -> bool {
        self.until < self.train.total()
    }

    /// Whether it has pulsed and been halted, by a suspension or between two slices.
    pub(super) fn has_halted(&self) -> bool {
        self.suspends > 0 || self.kept > Duration::ZERO
    }

    /// How often and how long it has been suspended, which it is at `now`.
    #[inline]
    pub(super) fn suspended_by(&self, now: SimTime) -> Suspended {
        let spent = self.suspended + now.since(self.halted);
        Suspended { times: self.suspends, first: self.first_suspend, spent }
    }

    /// Whether it is a program of this page.
    pub(super) fn writes(&self, plane: u32, block: BlockId, page: u32) -> bool {
        let pages = self.pages;
        self.block == Some(block) && self.spans(plane) && (pages.first..pages.end()).contains(&page)
    }

    #[inline]
    pub(super) fn spans(&self, plane: u32) -> bool {
        self.planes.each().contains(&plane)
    }
}

/// What a program writes that pulses together with the one on the die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub(super) block: BlockId,
    pub(super) planes: Planes,
    pub(super) pages: Pages,
}

impl Joined {
    /// The operation `op` as that of this program alone.
    pub(super) fn alone(&self, op: &LongOp) -> LongOp {
        LongOp { block: Some(self.block), planes: self.planes, pages: self.pages, ..*op }
    }
}

/// Time of trains by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainTime {
    /// Their command was on the bus.
    pub command: Duration,
    /// A pulse resumed midway regained its voltage, without progress.
    pub ramp: Duration,
    /// Pulses, voltage resets, verifies.
    pub phases: [Duration; 3],
}

/// Pulses on a die, until something stops them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulses {
    /// Command.
    pub kind: Kind,
    /// Its train.
    pub train: PulseTrain,
    /// When they begin; until then the command is on the bus.
    pub from: SimTime,
    /// When they make progress; until then a pulse resumed midway regains its voltage.
    pub ramped: SimTime,
    /// Progress then.
    pub progress: Duration,
}
