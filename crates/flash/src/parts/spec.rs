//! What a flash part is: its geometry and its timings, as plain data.

use super::cache::CacheRegister;
use super::power::PowerSpec;
use super::transfer::ReadTransfer;
use interpulse_engine::{Bytes, Duration};

/// One flash die type ("part"), resolved from a preset and the user's overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSpec {
    /// Name of the preset this part was based on.
    pub name: String,
    /// Planes per die.
    pub planes: u32,
    /// Blocks per plane, bad-block reserve included.
    pub blocks_per_plane: u32,
    /// Pages per block as the data sheet counts them.
    pub pages_per_block: u32,
    /// User bytes of a page.
    pub page_size: Bytes,
    /// Parity and metadata bytes stored beside a page; programs move them with it.
    pub page_parity: Bytes,
    /// Bits per cell: 1 SLC, 2 MLC, 3 TLC, 4 QLC.
    pub bits_per_cell: u32,
    /// Stacked layers; a block's word lines are spread over them evenly (planar parts have 1).
    pub layers: u32,
    /// How the pages of a word line are programmed.
    pub program_mode: ProgramMode,
    /// Sensing time tR of each page type, least significant page first; `bits_per_cell` entries.
    pub read: Vec<Duration>,
    /// Setting up the page buffer after each page load of a program; the bus is free meanwhile.
    pub buffer_setup: Duration,
    /// The pulses of a program.
    pub program: TrainSpec,
    /// Standard deviation of the number of program loops between word lines; the number is a fixed
    /// function of the word line's address.
    pub program_loops_sd: f64,
    /// The pulses of an erase at zero wear.
    pub erase: TrainSpec,
    /// How the number of erase loops grows with program/erase cycles.
    pub erase_wear: EraseWear,
    /// Which operations the part can suspend.
    pub suspend_support: SuspendSupport,
    /// Time to discharge the word lines when a pulse is cancelled.
    pub voltage_reset: Duration,
    /// Time from a legal stop of a program until the die accepts a read (beyond finishing the current loop).
    pub program_suspend_entry: Duration,
    /// Time from the resume command until a suspended program makes progress again.
    pub program_resume: Duration,
    /// Time to load the page buffer again from a shadow buffer, after a suspension's reads have used it.
    pub page_buffer_reload: Duration,
    /// Time from a legal stop of an erase until the die accepts a read.
    pub erase_suspend_entry: Duration,
    /// Time from the resume command until a suspended erase makes progress again.
    pub erase_resume: Duration,
    /// Bus transfer rate in transfers (bytes, the bus being 8 bits wide) per second.
    pub bus_rate: u64,
    /// What a read moves over the bus.
    pub read_transfer: ReadTransfer,
    /// Bus time of the command and address cycles of one operation.
    pub command_cycles: Duration,
    /// Rated program/erase cycles.
    pub endurance: u32,
    /// How its word lines are written as two bits per cell, again and again; `None` where that is not known.
    pub reprogram: Option<ReprogramSpec>,
    /// Its cache register.
    pub cache: CacheRegister,
    /// What it draws from its supplies.
    pub power: PowerSpec,
}

/// A train of identical loops: pulse, voltage reset, verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainSpec {
    /// Number of loops.
    pub loops: u32,
    /// Length of the pulse of one loop.
    pub pulse: Duration,
    /// Length of the voltage reset after the pulse, where it is not part of pulse or verify.
    pub reset: Duration,
    /// Length of the verify (all verifies together) of one loop.
    pub verify: Duration,
}

impl TrainSpec {
    /// Length of one loop.
    pub fn loop_time(&self) -> Duration {
        self.pulse + self.reset + self.verify
    }
}

/// The operations on a block whose word lines are programmed as two bits per cell and reprogrammed (Gao et al., MICRO
/// 2019, Section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReprogramSpec {
    /// The first program of a word line, on the four lowest states.
    pub mlc_program: TrainSpec,
    /// A reprogram of one of its two pages, without the read that comes before it.
    pub reprogram: TrainSpec,
    /// tR of a page of such a word line, which is also how long a reprogram reads status and data.
    pub read: Duration,
}

/// How the pages of a word line are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramMode {
    /// All pages of a word line in one operation.
    OneShot,
    /// One page per operation, in page order.
    Page,
}

/// Which operations a part can suspend; each includes the ones before it, except that `program` has no erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendSupport {
    /// None.
    None,
    /// Erases.
    Erase,
    /// Programs.
    Program,
    /// Programs and erases, one at a time.
    Both,
    /// Programs and erases, also a program that runs inside a suspended erase.
    Nested,
}

impl SuspendSupport {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, SuspendSupport, &'static str)] = &[
        ("none", SuspendSupport::None, "no operation"),
        ("erase", SuspendSupport::Erase, "erases"),
        ("program", SuspendSupport::Program, "programs"),
        ("both", SuspendSupport::Both, "programs and erases, one at a time"),
        ("nested", SuspendSupport::Nested, "both, also a program inside a suspended erase"),
    ];

    /// Whether programs can be suspended.
    pub fn programs(self) -> bool {
        !matches!(self, SuspendSupport::None | SuspendSupport::Erase)
    }

    /// Whether erases can be suspended.
    pub fn erases(self) -> bool {
        !matches!(self, SuspendSupport::None | SuspendSupport::Program)
    }
}

/// How the number of erase loops grows with wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseWear {
    /// Always the part's own count.
    Fixed,
    /// The loop-count distributions of 3D TLC blocks measured by AERO, drawn per block.
    Aero,
}

impl PartSpec {
    /// Word lines of a block that can be programmed: pages beyond a whole word line stay unused.
    pub fn word_lines(&self) -> u32 {
        self.pages_per_block / self.bits_per_cell
    }

    /// Pages of a block that can hold data.
    pub fn usable_pages(&self) -> u32 {
        self.word_lines() * self.bits_per_cell
    }
}
