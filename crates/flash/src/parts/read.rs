//! Reading a part from the section `[part]` of a configuration.

use super::cache::CacheRegister;
use super::pages::of_page;
use super::power::PowerSpec;
use super::registry::{PRESET, presets};
use super::spec::{EraseWear, PartSpec, ProgramMode, ReprogramSpec, SuspendSupport, TrainSpec};
use super::transfer::ReadTransfer;
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, Spec, default, required};

/// No single step of a flash operation lasts longer; keeps sums of steps far from overflow.
const SLOWEST: Duration = Duration::from_ms(60_000);

/// No plane has more blocks.
pub const MOST_BLOCKS: u32 = 1 << 20;

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
        let planes = state.u32("planes", "planes per die", required().within(1..=64).typical(4))?;
        let blocks = required().within(1..=MOST_BLOCKS).typical(1_500);
        let blocks_per_plane =
            state.u32("blocks-per-plane", "blocks per plane, bad-block reserve included", blocks)?;
        let pages = required().within(1..=65_535).typical(2_112);
        let pages_per_block =
            state.u32("pages-per-block", "pages per block, as the data sheet counts them", pages)?;
        let page = required().positive().at_most(Bytes::mib(1)).typical(Bytes::kib(16));
        let page_size = state.bytes("page-size", "user bytes of a page", page)?;
        let parity = required().at_most(Bytes::mib(1)).typical(Bytes::kib(2));
        let page_parity = part.bytes("page-parity", "parity and metadata bytes beside a page", parity)?;
        let bits_per_cell = state.u32(
            "bits-per-cell",
            "bits per cell: 1 SLC to 4 QLC",
            required().within(1..=4).typical(3),
        )?;
        let layers = part.u32(
            "layers",
            "stacked layers, 1 for a planar part; describes the part, no timing depends on it",
            required().at_least(1).typical(176),
        )?;
        let modes = [
            ("one-shot", ProgramMode::OneShot, "all pages of a word line at once"),
            ("page", ProgramMode::Page, "page by page"),
        ];
        let doc = "all pages of a word line at once, or page by page";
        let program_mode = state.choice_typically_first("program-mode", doc, &modes)?;
        let read = read_times(part, bits_per_cell)?;
        let buffer_setup = part.duration(
            "buffer-setup",
            "setting up the page buffer after each page load of a program",
            or_zero(),
        )?;
        let program = program_train(part)?;
        let program_loops_sd = part.f64(
            "program-loops-sd",
            "standard deviation of the program loops between word lines",
            default(0.0).at_least(0.0),
        )?;
        let erase = erase_train(part)?;
        let wear = [
            ("fixed", EraseWear::Fixed, "the same loops at any wear"),
            ("aero", EraseWear::Aero, "drawn per block as AERO measured them on 3D TLC"),
        ];
        let erase_wear = part.choice(
            "erase-wear",
            "how erase loops grow with program/erase cycles",
            Some("fixed"),
            &wear,
        )?;
        let suspend_support = part.choice(
            "suspend-support",
            "which operations the part can suspend",
            Some("both"),
            SuspendSupport::ALL,
        )?;
        let spec = PartSpec {
            name,
            planes,
            blocks_per_plane,
            pages_per_block,
            page_size,
            page_parity,
            bits_per_cell,
            layers,
            program_mode,
            read,
            buffer_setup,
            program,
            program_loops_sd,
            erase,
            erase_wear,
            suspend_support,
            voltage_reset: part.duration(
                "voltage-reset",
                "discharge of the word lines when a pulse is cancelled",
                or_zero(),
            )?,
            program_suspend_entry: part.duration(
                "program-suspend-entry",
                "from a legal stop of a program to a read",
                if_suspended(suspend_support.programs(), 20),
            )?,
            program_resume: part.duration(
                "program-resume",
                "from the resume command to program progress",
                if_suspended(suspend_support.programs(), 5),
            )?,
            page_buffer_reload: part.duration(
                "page-buffer-reload",
                "loading the page buffer again from a shadow buffer, after reads have used it",
                or_zero(),
            )?,
            erase_suspend_entry: part.duration(
                "erase-suspend-entry",
                "from a legal stop of an erase to a read",
                if_suspended(suspend_support.erases(), 100),
            )?,
            erase_resume: part.duration(
                "erase-resume",
                "from the resume command to erase progress",
                if_suspended(suspend_support.erases(), 5),
            )?,
            bus_rate: part.rate(
                "bus-rate",
                "bus transfers (bytes) per second",
                required().at_least(1_000_000).typical(1_200_000_000),
            )?,
            read_transfer: ReadTransfer::read(part)?,
            command_cycles: part.duration(
                "command-cycles",
                "bus time of one operation's command and address cycles",
                or_zero(),
            )?,
            endurance: part.u32(
                "endurance",
                "rated program/erase cycles",
                required().at_least(1).typical(3_000),
            )?,
            reprogram: reprogram(part, bits_per_cell)?,
            cache: CacheRegister::read(
                &mut part.section("cache")?,
                if program_mode == ProgramMode::OneShot { bits_per_cell } else { 1 },
            )?,
            power: PowerSpec::read(&mut part.section("power")?, bits_per_cell)?,
        };
        spec.check(part)?;
        Ok(spec)
    }

    /// What no single key can be blamed for.
    fn check(&self, part: &Section) -> Result<(), ConfigError> {
        if self.word_lines() == 0 {
            let message = "a block needs at least one whole word line, a page for each bit of a cell";
            return Err(part.conflict(&["pages-per-block", "bits-per-cell"], message));
        }
        if self.layers > self.word_lines() {
            let keys = ["layers", "pages-per-block", "bits-per-cell"];
            let message = format!("more layers than the {} word lines of a block", self.word_lines());
            return Err(part.conflict(&keys, message));
        }
        if self.program_loops_sd > f64::from(self.program.loops) {
            let message = "the spread of the program loops is wider than their number";
            return Err(part.conflict(&["program-loops-sd", "program-loops"], message));
        }
        Ok(())
    }
}

/// A time that may be zero, and is when left out.
fn or_zero() -> Spec<Duration> {
    default(Duration::ZERO).at_most(SLOWEST)
}

/// A time of suspending or resuming, typically so many us; one that a part which can suspend does not state is not zero.
fn if_suspended(supported: bool, typical_us: u64) -> Spec<Duration> {
    let spec = if supported { required() } else { default(Duration::ZERO) };
    spec.at_most(SLOWEST).typical(Duration::from_us(typical_us))
}

fn positive(typical_us: u64) -> Spec<Duration> {
    required().positive().at_most(SLOWEST).typical(Duration::from_us(typical_us))
}

fn verify(typical_us: u64) -> Spec<Duration> {
    required().at_most(SLOWEST).typical(Duration::from_us(typical_us))
}

fn loops(typical: u32) -> Spec<u32> {
    required().within(1..=1000).typical(typical)
}

/// The sensing time of each page type that cells of `bits` bits have, least significant first.
fn read_times(part: &mut Section, bits: u32) -> Result<Vec<Duration>, ConfigError> {
    const TYPES: [(&str, &str, &str, u64); 4] = [
        ("lsb", "read-lsb", "sensing time of a least significant page", 50),
        ("csb", "read-csb", "sensing time of a central page", 60),
        ("msb", "read-msb", "sensing time of a most significant page", 70),
        ("top", "read-top", "sensing time of the fourth (top) page", 100),
    ];
    let mut times = Vec::new();
    for (page, key, doc, typical_us) in TYPES {
        times.extend(of_page(part, bits, page, |part| part.duration(key, doc, positive(typical_us)))?);
    }
    Ok(times)
}

fn program_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    Ok(TrainSpec {
        loops: part.u32("program-loops", "loops of pulse and verify in a program", loops(16))?,
        pulse: part.duration("program-pulse", "pulse of one program loop", positive(20))?,
        reset: part.duration(
            "program-reset",
            "voltage reset between pulse and verify of one program loop",
            or_zero(),
        )?,
        verify: part.duration("program-verify", "all verifies of one program loop", verify(30))?,
    })
}

/// The operations of reprogramming; none of its keys, or all.
fn reprogram(part: &mut Section, bits: u32) -> Result<Option<ReprogramSpec>, ConfigError> {
    let mut r = part.section("reprogram")?;
    let given = !r.is_empty() && bits == 3;
    r.when(given, "bits-per-cell = 3", read_reprogram)
}

fn read_reprogram(r: &mut Section) -> Result<ReprogramSpec, ConfigError> {
    let mlc_program = TrainSpec {
        loops: r.u32("mlc-loops", "loops of the first program, as two bits per cell", loops(12))?,
        pulse: r.duration("mlc-pulse", "pulse of one loop of the first program", positive(20))?,
        reset: r.duration("mlc-reset", "voltage reset of one loop of the first program", or_zero())?,
        verify: r.duration("mlc-verify", "all verifies of one loop of the first program", verify(30))?,
    };
    let reprogram = TrainSpec {
        loops: r.u32("loops", "loops of a reprogram", loops(12))?,
        pulse: r.duration("pulse", "pulse of one loop of a reprogram", positive(20))?,
        reset: r.duration("reset", "voltage reset of one loop of a reprogram", or_zero())?,
        verify: r.duration("verify", "all verifies of one loop of a reprogram", verify(30))?,
    };
    let read = r.duration(
        "read",
        "sensing a page of a reprogrammable word line; a reprogram begins with one such read",
        positive(50),
    )?;
    Ok(ReprogramSpec { mlc_program, reprogram, read })
}

fn erase_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    Ok(TrainSpec {
        loops: part.u32("erase-loops", "loops of pulse and verify in an erase at zero wear", loops(5))?,
        pulse: part.duration("erase-pulse", "pulse of one erase loop", positive(900))?,
        reset: part.duration(
            "erase-reset",
            "voltage reset between pulse and verify of one erase loop",
            or_zero(),
        )?,
        verify: part.duration("erase-verify", "verify of one erase loop", verify(100))?,
    })
}
