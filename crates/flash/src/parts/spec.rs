//! Part specification: geometry and timings of a flash part, read from the section `[part]`.

use super::cache::CacheRegister;
use super::interface;
use super::pages::MAX_BITS;
use super::plane_address::PlaneAddress;
use super::power::PowerSpec;
pub use super::program_mode::ProgramMode;
use super::registry::{PRESET_DOC, presets};
use super::sub_blocks::SubBlocks;
use super::train::{
    ReprogramSpec, SlcModeSpec, TrainSpec, TwoStepSpec, erase_train, optional_time, program_train,
    read_times, reprogram, slc_mode, suspend_time, two_step,
};
use super::transfer::ReadTransfer;
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional, required};

/// Most blocks of a plane.
pub const MAX_BLOCKS: u32 = 1 << 20;

keys! {
    /// A flash part (die type), resolved from a preset and the overrides of the user.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PartSpec, pub(super) fn keys(part, state: &mut Section, part_name: String) {
        /// Name of the part or of its preset.
        pub name: String => part_name,
        /// planes per die
        pub planes: u32 = (state) u32(required().within(1..=64).typical(4)),
        /// blocks per plane, bad-block reserve included
        pub blocks_per_plane: u32 = (state) u32(required().within(1..=MAX_BLOCKS).typical(1_500)),
        /// pages per block, as the data sheet counts them
        pub pages_per_block: u32 = (state) u32(required().within(1..=65_535).typical(2_112)),
        /// user bytes of a page
        pub page_size: Bytes = (state) bytes(required().positive().at_most(Bytes::mib(1)).typical(Bytes::kib(16))),
        /// parity and metadata bytes beside a page
        // Programs transfer them with the page.
        pub page_parity: Bytes = bytes(required().at_most(Bytes::mib(1)).typical(Bytes::kib(2))),
        /// bits per cell: 1 SLC to 4 QLC, 5 PLC
        pub bits_per_cell: u32 = (state) u32(required().within(1..=MAX_BITS).typical(3)),
        /// Sub-blocks of a block that are erased apart.
        pub sub_blocks: SubBlocks => SubBlocks::read(part, state)?,
        /// stacked layers, 1 for a planar part; no timing depends on it
        // The word lines of a block are distributed evenly over them.
        pub layers: u32 = u32(required().at_least(1).typical(176)),
        /// all pages of a word line at once, or page by page
        pub program_mode: ProgramMode = (state) choice_typically_first(ProgramMode::ALL),
        /// Sensing time tR of each page type, least significant page first; `bits_per_cell` entries.
        pub read: Vec<Duration> => read_times(part, bits_per_cell)?,
        /// whether every plane of a die reads on its own: other pages, other instants
        // Independent word lines (iWL), asynchronous independent plane reads (AIPR); see docs/PARTS.md.
        pub independent_plane_reads: bool = bool(default(false)),
        /// what the addresses on the planes of one multi-plane operation have in common
        // Programs and erases of `ftl.multi-plane` have the same block and page on all planes.
        pub plane_address: PlaneAddress = choice(Some("any"), PlaneAddress::ALL),
        /// set-up of the page buffer after each page load of a program
        // The bus is free during the set-up.
        pub buffer_setup: Duration = duration(optional_time()),
        /// The pulses of a program.
        pub program: TrainSpec => program_train(part)?,
        /// standard deviation of the program loops between word lines
        pub program_loops_sd: f64 = f64(default(0.0).at_least(0.0)),
        /// The pulses of an erase at zero wear.
        pub erase: TrainSpec => erase_train(part)?,
        /// growth of erase loops with program/erase cycles
        pub erase_wear: EraseWear = choice(Some("fixed"), EraseWear::ALL),
        /// operations that the part can suspend
        pub suspend_support: SuspendSupport = choice(Some("both"), SuspendSupport::ALL),
        /// discharge of the word lines when a pulse is cancelled
        pub voltage_reset: Duration = duration(optional_time()),
        /// from a legal stop of a program to a read
        // Beyond finishing the current loop.
        pub program_suspend_entry: Duration = duration(suspend_time(suspend_support.programs(), 20)),
        /// from the resume command to program progress
        pub program_resume: Duration = duration(suspend_time(suspend_support.programs(), 5)),
        /// reload of the page buffer from a shadow buffer after reads have used it
        pub page_buffer_reload: Duration = duration(optional_time()),
        /// from a legal stop of an erase to a read
        pub erase_suspend_entry: Duration = duration(suspend_time(suspend_support.erases(), 100)),
        /// from the resume command to erase progress
        pub erase_resume: Duration = duration(suspend_time(suspend_support.erases(), 5)),
        /// bus transfers (bytes) per second
        pub bus_rate: u64 = rate(required().at_least(1_000_000).typical(1_200_000_000)),
        /// bus time of loading a page with its parity into the page buffer; by default from bus-rate
        // In some simulators a page load takes almost no bus time.
        pub page_load: Option<Duration> = optional_duration(optional().positive()),
        /// Data that a read transfers.
        pub read_transfer: ReadTransfer => ReadTransfer::read(part)?,
        /// pins of commands and addresses
        // Separate ones: the SCA protocol of JESD230G and ONFI 5.2.
        pub command_bus: CommandBus = choice(Some("shared"), CommandBus::ALL),
        /// bus time of one operation's command and address cycles
        pub command_cycles: Duration = duration(optional_time()),
        /// rated program/erase cycles
        pub endurance: u32 = u32(required().at_least(1).typical(3_000)),
        /// MLC-mode operations; `None` if unknown.
        pub reprogram: Option<ReprogramSpec> => reprogram(part, bits_per_cell)?,
        /// Operations in SLC mode; `None` if unknown.
        pub slc_mode: Option<SlcModeSpec> => slc_mode(part, bits_per_cell)?,
        /// Steps of a program in two steps.
        pub two_step: Option<TwoStepSpec> => two_step(part, program_mode, bits_per_cell)?,
        /// Cache register.
        pub cache: CacheRegister => {
            let at_once = if program_mode == ProgramMode::Page { 1 } else { bits_per_cell };
            CacheRegister::read(&mut part.section("cache")?, at_once)?
        },
        /// Supplies and currents.
        pub power: PowerSpec => PowerSpec::read(&mut part.section("power")?, bits_per_cell)?,
    }
}

choices! {
    /// Pins on which commands and addresses move.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CommandBus {
        /// those of the data
        Shared = "shared",
        /// pins of their own (SCA): commands move while data of other dies moves
        Separate = "separate",
    }
}

choices! {
    /// Operations that a part can suspend.
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
    /// Growth of erase loops with wear.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EraseWear {
        /// the same loops at any wear
        Fixed = "fixed",
        /// drawn per block from the distributions that AERO measured on 3D TLC
        Aero = "aero",
    }
}

impl PartSpec {
    /// Reads a part from the section `[part]` over its preset, if any. Lists all missing keys at once; unknown keys are left
    /// to [`Section::finish`].
    pub fn read(part: &mut Section) -> Result<PartSpec, ConfigError> {
        part.reporting_all_missing(PartSpec::read_keys)
    }

    fn read_keys(part: &mut Section) -> Result<PartSpec, ConfigError> {
        let presets: Vec<_> = presets().iter().map(|preset| (preset.name, preset.doc)).collect();
        let preset = part.label_of("preset", PRESET_DOC, &presets)?;
        let own = part.label("name", "name of the part; by default that of its preset")?;
        // Its rate and cycles are keys of the part by now.
        part.label_of("interface", interface::DOC, &interface::names())?;
        let name = own.or(preset).unwrap_or_else(|| "custom".to_string());
        let mut state = part.shaping_state();
        let spec = PartSpec::keys(part, &mut state, name)?;
        spec.check(part)?;
        spec.divided(part)
    }

    /// Checks constraints between several keys.
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

    /// Whole word lines of a block; remaining pages stay unused.
    pub fn word_lines(&self) -> u32 {
        self.pages_per_block / self.bits_per_cell
    }

    /// Pages of a block that can hold data.
    pub fn usable_pages(&self) -> u32 {
        self.word_lines() * self.bits_per_cell
    }
}
