//! Reading a part from the section `[part]` of a configuration.

use super::pages::of_page;
use super::power::PowerSpec;
use super::registry::{PRESET, presets};
use super::spec::{EraseWear, PartSpec, ProgramMode, ReprogramSpec, SuspendSupport, TrainSpec};
use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, Spec, default, required};

/// No single step of a flash operation lasts longer; keeps sums of steps far from overflow.
const SLOWEST: Duration = Duration::from_ms(60_000);

impl PartSpec {
    /// Reads a part from the section `[part]`, which a preset may have filled; a part without a preset is
    /// called `custom`.
    ///
    /// Fails on missing, malformed or contradicting keys; unknown ones are left to [`Section::finish`].
    pub fn read(part: &mut Section) -> Result<PartSpec, ConfigError> {
        let presets: Vec<_> = presets().iter().map(|preset| (preset.name, preset.doc)).collect();
        let name = part.label_of("preset", PRESET, &presets)?.unwrap_or_else(|| "custom".to_string());
        let mut state = part.shaping_state();
        let planes = state.u32("planes", "planes per die", required().within(1..=64))?;
        let blocks = required().within(1..=1 << 20);
        let blocks_per_plane =
            state.u32("blocks-per-plane", "blocks per plane, bad-block reserve included", blocks)?;
        let pages = required().within(1..=65_535);
        let pages_per_block =
            state.u32("pages-per-block", "pages per block, as the data sheet counts them", pages)?;
        let page = required().positive().at_most(Bytes::mib(1));
        let page_size = state.bytes("page-size", "user bytes of a page", page)?;
        let parity = required().at_most(Bytes::mib(1));
        let page_parity = part.bytes("page-parity", "parity and metadata bytes beside a page", parity)?;
        let bits_per_cell =
            state.u32("bits-per-cell", "bits per cell: 1 SLC to 4 QLC", required().within(1..=4))?;
        let layers = part.u32(
            "layers",
            "stacked layers, 1 for a planar part; describes the part, no timing depends on it",
            required().at_least(1),
        )?;
        let modes = [
            ("one-shot", ProgramMode::OneShot, "all pages of a word line at once"),
            ("page", ProgramMode::Page, "page by page"),
        ];
        let program_mode = state.choice(
            "program-mode",
            "all pages of a word line at once, or page by page",
            None,
            &modes,
        )?;
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
                or_zero(),
            )?,
            program_resume: part.duration(
                "program-resume",
                "from the resume command to program progress",
                or_zero(),
            )?,
            page_buffer_reload: part.duration(
                "page-buffer-reload",
                "loading the page buffer again from a shadow buffer, after reads have used it",
                or_zero(),
            )?,
            erase_suspend_entry: part.duration(
                "erase-suspend-entry",
                "from a legal stop of an erase to a read",
                or_zero(),
            )?,
            erase_resume: part.duration(
                "erase-resume",
                "from the resume command to erase progress",
                or_zero(),
            )?,
            bus_rate: part.rate(
                "bus-rate",
                "bus transfers (bytes) per second",
                required().at_least(1_000_000),
            )?,
            command_cycles: part.duration(
                "command-cycles",
                "bus time of one operation's command and address cycles",
                or_zero(),
            )?,
            endurance: part.u32("endurance", "rated program/erase cycles", required().at_least(1))?,
            reprogram: reprogram(part, bits_per_cell, program_mode)?,
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

fn positive() -> Spec<Duration> {
    required().positive().at_most(SLOWEST)
}

/// The sensing time of each page type that cells of `bits` bits have, least significant first.
fn read_times(part: &mut Section, bits: u32) -> Result<Vec<Duration>, ConfigError> {
    const TYPES: [(&str, &str, &str); 4] = [
        ("lsb", "read-lsb", "sensing time of a least significant page"),
        ("csb", "read-csb", "sensing time of a central page"),
        ("msb", "read-msb", "sensing time of a most significant page"),
        ("top", "read-top", "sensing time of the fourth (top) page"),
    ];
    let mut times = Vec::new();
    for (page, key, doc) in TYPES {
        times.extend(of_page(part, bits, page, |part| part.duration(key, doc, positive()))?);
    }
    Ok(times)
}

/// A train whose loops, pulse, voltage reset and verify have these keys, each with its documentation.
fn train(
    s: &mut Section,
    [loops, pulse, reset, verify]: [(&str, &'static str); 4],
) -> Result<TrainSpec, ConfigError> {
    Ok(TrainSpec {
        loops: s.u32(loops.0, loops.1, required().within(1..=1000))?,
        pulse: s.duration(pulse.0, pulse.1, positive())?,
        reset: s.duration(reset.0, reset.1, or_zero())?,
        verify: s.duration(verify.0, verify.1, required().at_most(SLOWEST))?,
    })
}

fn program_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let keys = [
        ("program-loops", "loops of pulse and verify in a program"),
        ("program-pulse", "pulse of one program loop"),
        ("program-reset", "voltage reset between pulse and verify of one program loop"),
        ("program-verify", "all verifies of one program loop"),
    ];
    train(part, keys)
}

/// The operations of reprogramming; none of its keys, or all.
fn reprogram(part: &mut Section, bits: u32, mode: ProgramMode) -> Result<Option<ReprogramSpec>, ConfigError> {
    let mut r = part.section("reprogram")?;
    let given = !r.is_empty() && bits == 3 && mode == ProgramMode::OneShot;
    r.when(given, "bits-per-cell = 3 with program-mode = \"one-shot\"", read_reprogram)
}

fn read_reprogram(r: &mut Section) -> Result<ReprogramSpec, ConfigError> {
    let of_two_bits = [
        ("mlc-loops", "loops of the first program, as two bits per cell"),
        ("mlc-pulse", "pulse of one loop of the first program"),
        ("mlc-reset", "voltage reset of one loop of the first program"),
        ("mlc-verify", "all verifies of one loop of the first program"),
    ];
    let of_reprogram = [
        ("loops", "loops of a reprogram"),
        ("pulse", "pulse of one loop of a reprogram"),
        ("reset", "voltage reset of one loop of a reprogram"),
        ("verify", "all verifies of one loop of a reprogram"),
    ];
    let (mlc_program, reprogram) = (train(r, of_two_bits)?, train(r, of_reprogram)?);
    let read = r.duration(
        "read",
        "sensing a page of a reprogrammable word line; a reprogram begins with one such read",
        positive(),
    )?;
    Ok(ReprogramSpec { mlc_program, reprogram, read })
}

fn erase_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let keys = [
        ("erase-loops", "loops of pulse and verify in an erase at zero wear"),
        ("erase-pulse", "pulse of one erase loop"),
        ("erase-reset", "voltage reset between pulse and verify of one erase loop"),
        ("erase-verify", "verify of one erase loop"),
    ];
    train(part, keys)
}
