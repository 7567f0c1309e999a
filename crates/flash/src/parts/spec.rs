//! What a flash part is, and how it is read from the section `[part]`: its geometry and its timings, as plain data.

use super::cache::CacheRegister;
use super::power::PowerSpec;
use super::registry::{PRESET, presets};
use super::train::{
    ReprogramSpec, TrainSpec, erase_train, if_suspended, or_zero, program_train, read_times, reprogram,
};
use super::transfer::ReadTransfer;
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional, required};

/// No plane has more blocks.
pub const MOST_BLOCKS: u32 = 1 << 20;

keys! {
    /// One flash die type ("part"), resolved from a preset and the user's overrides.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PartSpec, pub(super) fn keys(part, state: &mut Section, its_name: String) {
        /// Name of the preset this part was based on.
        pub name: String => its_name,
        /// planes per die
        pub planes: u32 = (state) u32(required().within(1..=64).typical(4)),
        /// blocks per plane, bad-block reserve included
        pub blocks_per_plane: u32 = (state) u32(required().within(1..=MOST_BLOCKS).typical(1_500)),
        /// pages per block, as the data sheet counts them
        pub pages_per_block: u32 = (state) u32(required().within(1..=65_535).typical(2_112)),
        /// user bytes of a page
        pub page_size: Bytes = (state) bytes(required().positive().at_most(Bytes::mib(1)).typical(Bytes::kib(16))),
        /// parity and metadata bytes beside a page
        // Programs move them with it.
        pub page_parity: Bytes = bytes(required().at_most(Bytes::mib(1)).typical(Bytes::kib(2))),
        /// bits per cell: 1 SLC to 4 QLC
        pub bits_per_cell: u32 = (state) u32(required().within(1..=4).typical(3)),
        /// stacked layers, 1 for a planar part; describes the part, no timing depends on it
        // A block's word lines are spread over them evenly.
        pub layers: u32 = u32(required().at_least(1).typical(176)),
        /// all pages of a word line at once, or page by page
        pub program_mode: ProgramMode = (state) choice_typically_first(ProgramMode::ALL),
        /// Sensing time tR of each page type, least significant page first; `bits_per_cell` entries.
        pub read: Vec<Duration> => read_times(part, bits_per_cell)?,
        /// setting up the page buffer after each page load of a program
        // The bus is free meanwhile.
        pub buffer_setup: Duration = duration(or_zero()),
        /// The pulses of a program.
        pub program: TrainSpec => program_train(part)?,
        /// standard deviation of the program loops between word lines
        // The number is a fixed function of the word line's address.
        pub program_loops_sd: f64 = f64(default(0.0).at_least(0.0)),
        /// The pulses of an erase at zero wear.
        pub erase: TrainSpec => erase_train(part)?,
        /// how erase loops grow with program/erase cycles
        pub erase_wear: EraseWear = choice(Some("fixed"), EraseWear::ALL),
        /// which operations the part can suspend
        pub suspend_support: SuspendSupport = choice(Some("both"), SuspendSupport::ALL),
        /// discharge of the word lines when a pulse is cancelled
        pub voltage_reset: Duration = duration(or_zero()),
        /// from a legal stop of a program to a read
        // Beyond finishing the current loop.
        pub program_suspend_entry: Duration = duration(if_suspended(suspend_support.programs(), 20)),
        /// from the resume command to program progress
        pub program_resume: Duration = duration(if_suspended(suspend_support.programs(), 5)),
        /// loading the page buffer again from a shadow buffer, after reads have used it
        pub page_buffer_reload: Duration = duration(or_zero()),
        /// from a legal stop of an erase to a read
        pub erase_suspend_entry: Duration = duration(if_suspended(suspend_support.erases(), 100)),
        /// from the resume command to erase progress
        pub erase_resume: Duration = duration(if_suspended(suspend_support.erases(), 5)),
        /// bus transfers (bytes) per second
        pub bus_rate: u64 = rate(required().at_least(1_000_000).typical(1_200_000_000)),
        /// moving a page with its parity into the page buffer, where it is not what bus-rate makes of it
        // Simulators exist in which a page load hardly takes the bus.
        pub page_load: Option<Duration> = optional_duration(optional().positive()),
        /// What a read moves over the bus.
        pub read_transfer: ReadTransfer => ReadTransfer::read(part)?,
        /// bus time of one operation's command and address cycles
        pub command_cycles: Duration = duration(or_zero()),
        /// rated program/erase cycles
        pub endurance: u32 = u32(required().at_least(1).typical(3_000)),
        /// How its word lines are written as two bits per cell, again and again; `None` where that is not known.
        pub reprogram: Option<ReprogramSpec> => reprogram(part, bits_per_cell)?,
        /// Its cache register.
        pub cache: CacheRegister => {
            let at_once = if program_mode == ProgramMode::OneShot { bits_per_cell } else { 1 };
            CacheRegister::read(&mut part.section("cache")?, at_once)?
        },
        /// What it draws from its supplies.
        pub power: PowerSpec => PowerSpec::read(&mut part.section("power")?, bits_per_cell)?,
    }
}

choices! {
    /// How the pages of a word line are programmed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProgramMode {
        /// all pages of a word line at once
        OneShot = "one-shot",
        /// page by page
        Page = "page",
    }
}

choices! {
    /// Which operations a part can suspend; each includes the ones before it, except that `program` has no erases.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SuspendSupport {
        /// no operation
        None = "none",
        /// erases
        Erase = "erase",
        /// programs
        Program = "program",
        /// programs and erases, one at a time
        Both = "both",
        /// both, also a program inside a suspended erase
        Nested = "nested",
    }
}

impl SuspendSupport {
    /// Whether programs can be suspended.
    pub fn programs(self) -> bool {
        !matches!(self, SuspendSupport::None | SuspendSupport::Erase)
    }

    /// Whether erases can be suspended.
    pub fn erases(self) -> bool {
        !matches!(self, SuspendSupport::None | SuspendSupport::Program)
    }
}

choices! {
    /// How the number of erase loops grows with wear.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EraseWear {
        /// the same loops at any wear
        Fixed = "fixed",
        /// drawn per block as AERO measured them on 3D TLC
        Aero = "aero",
    }
}

impl PartSpec {
    /// Reads a part from the section `[part]`, which a preset may have filled; a part without a name and a preset is
    /// called `custom`.
    ///
    /// Fails on missing, malformed or contradicting keys, naming all that are missing at once; unknown ones are left to
    /// [`Section::finish`].
    pub fn read(part: &mut Section) -> Result<PartSpec, ConfigError> {
        part.completely(PartSpec::read_keys)
    }

    fn read_keys(part: &mut Section) -> Result<PartSpec, ConfigError> {
        let presets: Vec<_> = presets().iter().map(|preset| (preset.name, preset.doc)).collect();
        let preset = part.label_of("preset", PRESET, &presets)?;
        let own = part.label("name", "what the part is called; left out, as the preset it is based on")?;
        let name = own.or(preset).unwrap_or_else(|| "custom".to_string());
        let mut state = part.shaping_state();
        let spec = PartSpec::keys(part, &mut state, name)?;
        spec.check(part)?;
        Ok(spec)
    }

    /// What no single key can be blamed for.
    fn check(&self, part: &Section) -> Result<(), ConfigError> {
        let message = "a block needs at least one whole word line, a page for each bit of a cell";
        part.check_together(self.word_lines() != 0, &["pages-per-block", "bits-per-cell"], message)?;
        let message = format!("more layers than the {} word lines of a block", self.word_lines());
        let keys = ["layers", "pages-per-block", "bits-per-cell"];
        part.check_together(self.layers <= self.word_lines(), &keys, message)?;
        let message = "the spread of the program loops is wider than their number";
        let holds = self.program_loops_sd <= f64::from(self.program.loops);
        part.check_together(holds, &["program-loops-sd", "program-loops"], message)
    }

    /// Word lines of a block that can be programmed: pages beyond a whole word line stay unused.
    pub fn word_lines(&self) -> u32 {
        self.pages_per_block / self.bits_per_cell
    }

    /// Pages of a block that can hold data.
    pub fn usable_pages(&self) -> u32 {
        self.word_lines() * self.bits_per_cell
    }
}
