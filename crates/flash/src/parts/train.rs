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

/// A pulse train: the keys of its loops, pulse, voltage reset and verify, each with its documentation, and how many loops,
/// and how many us of a pulse and of all verifies of a loop are typical.
fn train(
    s: &mut Section,
    keys: [(&str, &'static str); 4],
    (typical_loops, pulse, verify): (u32, u64, u64),
) -> Result<TrainSpec, ConfigError> {
    let lasts = |spec: Spec<Duration>, typical| spec.at_most(SLOWEST).typical(Duration::from_us(typical));
    let [loops, pulses, resets, verifies] = keys;
    Ok(TrainSpec {
        loops: s.u32(loops.0, loops.1, required().within(1..=1000).typical(typical_loops))?,
        pulse: s.duration(pulses.0, pulses.1, lasts(required().positive(), pulse))?,
        reset: s.duration(resets.0, resets.1, or_zero())?,
        verify: s.duration(verifies.0, verifies.1, lasts(required(), verify))?,
    })
}

pub(super) fn program_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let keys = [
        ("program-loops", "loops of pulse and verify in a program"),
        ("program-pulse", "pulse of one program loop"),
        ("program-reset", "voltage reset between pulse and verify of one program loop"),
        ("program-verify", "all verifies of one program loop"),
    ];
    train(part, keys, (16, 20, 30))
}

pub(super) fn erase_train(part: &mut Section) -> Result<TrainSpec, ConfigError> {
    let keys = [
        ("erase-loops", "loops of pulse and verify in an erase at zero wear"),
        ("erase-pulse", "pulse of one erase loop"),
        ("erase-reset", "voltage reset between pulse and verify of one erase loop"),
        ("erase-verify", "verify of one erase loop"),
    ];
    train(part, keys, (5, 900, 100))
}

/// The operations of reprogramming; none of its keys, or all.
pub(super) fn reprogram(part: &mut Section, bits: u32) -> Result<Option<ReprogramSpec>, ConfigError> {
    let mut r = part.section("reprogram")?;
    let given = !r.is_empty() && bits == 3;
    r.when(given, "bits-per-cell = 3", read_reprogram)
}

fn read_reprogram(r: &mut Section) -> Result<ReprogramSpec, ConfigError> {
    let first = [
        ("mlc-loops", "loops of the first program, as two bits per cell"),
        ("mlc-pulse", "pulse of one loop of the first program"),
        ("mlc-reset", "voltage reset of one loop of the first program"),
        ("mlc-verify", "all verifies of one loop of the first program"),
    ];
    let again = [
        ("loops", "loops of a reprogram"),
        ("pulse", "pulse of one loop of a reprogram"),
        ("reset", "voltage reset of one loop of a reprogram"),
        ("verify", "all verifies of one loop of a reprogram"),
    ];
    let doc = "sensing a page of a reprogrammable word line; a reprogram begins with one such read";
    Ok(ReprogramSpec {
        mlc_program: train(r, first, (12, 20, 30))?,
        reprogram: train(r, again, (12, 20, 30))?,
        read: r.duration("read", doc, sensing(50))?,
    })
}
