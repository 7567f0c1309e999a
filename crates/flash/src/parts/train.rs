//! Times of a part: sensing, pulse trains, optional steps.

use super::pages::read_for_page;
use super::program_mode::ProgramMode;
pub use crate::pulse::PulseTrain as TrainSpec;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, Spec, default, required};

/// Longest legal step of a flash operation; keeps sums far from overflow.
const MAX_STEP: Duration = Duration::from_ms(60_000);

/// Operations on MLC-mode blocks (Gao et al., MICRO 2019, Section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReprogramSpec {
    /// The first program of a word line, on the four lowest states.
    pub mlc_program: TrainSpec,
    /// A reprogram of one page, without the preceding read.
    pub reprogram: TrainSpec,
    /// tR of a page of an MLC-mode word line, also the read of status and data before a reprogram.
    pub read: Duration,
}

/// Operations on blocks in SLC mode, with one bit per cell of a part with more. An erase is that of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcModeSpec {
    /// The program of a word line.
    pub program: TrainSpec,
    /// tR of its page.
    pub read: Duration,
    /// Rated program/erase cycles of a block that is used in this mode alone.
    pub endurance: u32,
}

/// Steps of a program in two steps; the pulses of the second one are those of [`super::PartSpec::program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoStepSpec {
    /// The first step of a word line.
    pub program: TrainSpec,
    /// Pages that the first step loads on each plane.
    pub first_pages: u32,
    /// Pages that the second step loads.
    pub second_pages: u32,
}

/// A time with default zero.
pub(super) fn optional_time() -> Spec<Duration> {
    default(Duration::ZERO).at_most(MAX_STEP)
}

/// A suspend or resume time, `typical_us` typically; required on a part that can suspend.
pub(super) fn suspend_time(supported: bool, typical_us: u64) -> Spec<Duration> {
    let spec = if supported { required() } else { default(Duration::ZERO) };
    spec.at_most(MAX_STEP).typical(Duration::from_us(typical_us))
}

/// A sensing time, typically `typical_us`.
fn sensing(typical_us: u64) -> Spec<Duration> {
    required().positive().at_most(MAX_STEP).typical(Duration::from_us(typical_us))
}

/// The sensing times of all page types of cells of `bits` bits, least significant first.
pub(super) fn read_times(part: &mut Section, bits: u32) -> Result<Vec<Duration>, ConfigError> {
    const TYPES: [(&str, &str, &str, u64); 5] = [
        ("lsb", "read-lsb", "sensing time of a least significant page", 50),
        ("csb", "read-csb", "sensing time of a central page", 60),
        ("msb", "read-msb", "sensing time of a most significant page", 70),
        ("top", "read-top", "sensing time of the fourth (top) page", 100),
        ("fifth", "read-fifth", "sensing time of the fifth page", 150),
    ];
    let mut times = Vec::new();
    for (page, key, doc, typical_us) in TYPES {
        times.extend(read_for_page(part, bits, page, |part| part.duration(key, doc, sensing(typical_us)))?);
    }
    Ok(times)
}

/// A key of a pulse train, and its typical loops or us.
struct TrainKey {
    key: &'static str,
    doc: &'static str,
    typical: u32,
}

const fn train_key(key: &'static str, doc: &'static str, typical: u32) -> TrainKey {
    TrainKey { key, doc, typical }
}

/// Reads a pulse train: loops, and pulse, voltage reset and verifies of one loop.
fn train(s: &mut Section, of: [TrainKey; 4]) -> Result<TrainSpec, ConfigError> {
    let lasts = |spec: Spec<Duration>, of: &TrainKey| {
        spec.at_most(MAX_STEP).typical(Duration::from_us(u64::from(of.typical)))
    };
    let [loops, pulse, reset, verify] = of;
    Ok(TrainSpec::even(
        s.u32(loops.key, loops.doc, required().within(1..=1000).typical(loops.typical))?,
        s.duration(pulse.key, pulse.doc, lasts(required().positive(), &pulse))?,
        s.duration(reset.key, reset.doc, optional_time())?,
        s.duration(verify.key, verify.doc, lasts(required(), &verify))?,
    ))
}

pub(super) fn program_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let of = [
        train_key("program-loops", "loops of pulse and verify in a program", 16),
        train_key("program-pulse", "pulse of one program loop", 20),
        train_key("program-reset", "voltage reset between pulse and verify of one program loop", 0),
        train_key("program-verify", "all verifies of one program loop", 30),
    ];
    train(part, of)
}

pub(super) fn erase_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let of = [
        train_key("erase-loops", "loops of pulse and verify in an erase at zero wear", 5),
        train_key("erase-pulse", "pulse of one erase loop", 900),
        train_key("erase-reset", "voltage reset between pulse and verify of one erase loop", 0),
        train_key("erase-verify", "verify of one erase loop", 100),
    ];
    train(part, of)
}

/// Reads the section `[part.reprogram]`: all of its keys, or none.
pub(super) fn reprogram(part: &mut Section, bits: u32) -> Result<Option<ReprogramSpec>, ConfigError> {
    let mut r = part.section("reprogram")?;
    let given = !r.is_empty() && bits == 3;
    r.when(given, "bits-per-cell = 3", read_reprogram)
}

fn read_reprogram(r: &mut Section) -> Result<ReprogramSpec, ConfigError> {
    let first = [
        train_key("mlc-loops", "loops of the first program in MLC mode", 12),
        train_key("mlc-pulse", "pulse of one loop of the first program", 20),
        train_key("mlc-reset", "voltage reset of one loop of the first program", 0),
        train_key("mlc-verify", "all verifies of one loop of the first program", 30),
    ];
    let again = [
        train_key("loops", "loops of a reprogram", 12),
        train_key("pulse", "pulse of one loop of a reprogram", 20),
        train_key("reset", "voltage reset of one loop of a reprogram", 0),
        train_key("verify", "all verifies of one loop of a reprogram", 30),
    ];
    let doc = "sensing time of a page of a reprogrammable word line; a reprogram begins with such a read";
    Ok(ReprogramSpec {
        mlc_program: train(r, first)?,
        reprogram: train(r, again)?,
        read: r.duration("read", doc, sensing(50))?,
    })
}

/// Reads the section `[part.slc-mode]`: all of its keys, or none.
pub(super) fn slc_mode(part: &mut Section, bits: u32) -> Result<Option<SlcModeSpec>, ConfigError> {
    let mut r = part.section("slc-mode")?;
    let given = !r.is_empty() && bits > 1;
    r.when(given, "bits-per-cell = 2 or 3 or 4 or 5", read_slc_mode)
}

fn read_slc_mode(r: &mut Section) -> Result<SlcModeSpec, ConfigError> {
    let program = [
        train_key("loops", "loops of a program in SLC mode", 5),
        train_key("pulse", "pulse of one loop of a program in SLC mode", 20),
        train_key("reset", "voltage reset of one loop of a program in SLC mode", 0),
        train_key("verify", "verify of one loop of a program in SLC mode", 20),
    ];
    Ok(SlcModeSpec {
        program: train(r, program)?,
        read: r.duration("read", "sensing time of a page in SLC mode", sensing(30))?,
        endurance: r.u32(
            "endurance",
            "rated program/erase cycles of a block that is used in SLC mode alone",
            required().at_least(1).typical(30_000),
        )?,
    })
}

/// Reads the section `[part.two-step]`, which `program-mode = "two-step"` needs.
pub(super) fn two_step(
    part: &mut Section,
    mode: ProgramMode,
    bits: u32,
) -> Result<Option<TwoStepSpec>, ConfigError> {
    let on = mode == ProgramMode::TwoStep;
    let message = "a cell of one bit has no second step";
    part.check_together(!on || bits > 1, &["program-mode", "bits-per-cell"], message)?;
    let read = |s: &mut Section| read_two_step(s, bits);
    part.section("two-step")?.when(on, "program-mode = \"two-step\"", read)
}

fn read_two_step(s: &mut Section, bits: u32) -> Result<TwoStepSpec, ConfigError> {
    let first = [
        train_key("loops", "loops of the first step of a word line", 12),
        train_key("pulse", "pulse of one loop of the first step", 20),
        train_key("reset", "voltage reset of one loop of the first step", 0),
        train_key("verify", "all verifies of one loop of the first step", 30),
    ];
    let program = train(s, first)?;
    let few = || required().within(1..=5).typical(1);
    let first_pages = s.u32("first-pages", "pages that the first step loads on each plane", few())?;
    let second_pages = s.u32("second-pages", "pages that the second step loads on each plane", few())?;
    let message = format!("a word line has {bits} pages");
    s.check_together(first_pages <= bits, &["first-pages"], message.clone())?;
    s.check_together(second_pages <= bits, &["second-pages"], message)?;
    Ok(TwoStepSpec { program, first_pages, second_pages })
}
