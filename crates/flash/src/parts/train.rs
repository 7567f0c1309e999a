//! Times of a part: sensing, trains of pulses, steps that may take none.

use super::pages::of_page;
pub use crate::pulse::PulseTrain as TrainSpec;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, Spec, default, required};

/// No single step of a flash operation lasts longer; keeps sums of steps far from overflow.
const SLOWEST: Duration = Duration::from_ms(60_000);

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

/// A time that may be zero, and is when left out.
pub(super) fn or_zero() -> Spec<Duration> {
    default(Duration::ZERO).at_most(SLOWEST)
}

/// A time of suspending or resuming, typically so many us; one that a part which can suspend does not state is not zero.
pub(super) fn if_suspended(supported: bool, typical_us: u64) -> Spec<Duration> {
    let spec = if supported { required() } else { default(Duration::ZERO) };
    spec.at_most(SLOWEST).typical(Duration::from_us(typical_us))
}

/// A sensing time, typically of so many us.
fn sensing(typical_us: u64) -> Spec<Duration> {
    required().positive().at_most(SLOWEST).typical(Duration::from_us(typical_us))
}

/// The sensing time of each page type that cells of `bits` bits have, least significant first.
pub(super) fn read_times(part: &mut Section, bits: u32) -> Result<Vec<Duration>, ConfigError> {
    const TYPES: [(&str, &str, &str, u64); 4] = [
        ("lsb", "read-lsb", "sensing time of a least significant page", 50),
        ("csb", "read-csb", "sensing time of a central page", 60),
        ("msb", "read-msb", "sensing time of a most significant page", 70),
        ("top", "read-top", "sensing time of the fourth (top) page", 100),
    ];
    let mut times = Vec::new();
    for (page, key, doc, typical_us) in TYPES {
        times.extend(of_page(part, bits, page, |part| part.duration(key, doc, sensing(typical_us)))?);
    }
    Ok(times)
}

/// A key of a pulse train, and how many loops or us are typical.
struct Said {
    key: &'static str,
    doc: &'static str,
    typical: u32,
}

const fn said(key: &'static str, doc: &'static str, typical: u32) -> Said {
    Said { key, doc, typical }
}

/// A pulse train: its loops, the pulse and the voltage reset of each, and all verifies of each.
fn train(s: &mut Section, of: [Said; 4]) -> Result<TrainSpec, ConfigError> {
    let lasts = |spec: Spec<Duration>, of: &Said| {
        spec.at_most(SLOWEST).typical(Duration::from_us(u64::from(of.typical)))
    };
    let [loops, pulse, reset, verify] = of;
    Ok(TrainSpec {
        loops: s.u32(loops.key, loops.doc, required().within(1..=1000).typical(loops.typical))?,
        pulse: s.duration(pulse.key, pulse.doc, lasts(required().positive(), &pulse))?,
        reset: s.duration(reset.key, reset.doc, or_zero())?,
        verify: s.duration(verify.key, verify.doc, lasts(required(), &verify))?,
    })
}

pub(super) fn program_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let of = [
        said("program-loops", "loops of pulse and verify in a program", 16),
        said("program-pulse", "pulse of one program loop", 20),
        said("program-reset", "voltage reset between pulse and verify of one program loop", 0),
        said("program-verify", "all verifies of one program loop", 30),
    ];
    train(part, of)
}

pub(super) fn erase_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let of = [
        said("erase-loops", "loops of pulse and verify in an erase at zero wear", 5),
        said("erase-pulse", "pulse of one erase loop", 900),
        said("erase-reset", "voltage reset between pulse and verify of one erase loop", 0),
        said("erase-verify", "verify of one erase loop", 100),
    ];
    train(part, of)
}

/// The operations of reprogramming; none of its keys, or all.
pub(super) fn reprogram(part: &mut Section, bits: u32) -> Result<Option<ReprogramSpec>, ConfigError> {
    let mut r = part.section("reprogram")?;
    let given = !r.is_empty() && bits == 3;
    r.when(given, "bits-per-cell = 3", read_reprogram)
}

fn read_reprogram(r: &mut Section) -> Result<ReprogramSpec, ConfigError> {
    let first = [
        said("mlc-loops", "loops of the first program, as two bits per cell", 12),
        said("mlc-pulse", "pulse of one loop of the first program", 20),
        said("mlc-reset", "voltage reset of one loop of the first program", 0),
        said("mlc-verify", "all verifies of one loop of the first program", 30),
    ];
    let again = [
        said("loops", "loops of a reprogram", 12),
        said("pulse", "pulse of one loop of a reprogram", 20),
        said("reset", "voltage reset of one loop of a reprogram", 0),
        said("verify", "all verifies of one loop of a reprogram", 30),
    ];
    let doc = "sensing a page of a reprogrammable word line; a reprogram begins with one such read";
    Ok(ReprogramSpec {
        mlc_program: train(r, first)?,
        reprogram: train(r, again)?,
        read: r.duration("read", doc, sensing(50))?,
    })
}
