//! Erase suspension on the tester: what a scheme does to the cells of a block (the second problem of Kim et al., ATC'19).
//!
//! Programmed blocks are erased while reads arrive at random and suspend the erase. A scheme that restarts a pulse, or lets
//! its voltage rise again, keeps the block under erase voltage for longer: it is erased deeper, and wears.

use super::{JobError, overrides, request, within};
use crate::cells::Cells;
use crate::coefficients::Coefficients;
use crate::follow::{self, Erased};
use crate::histogram::{Histogram, whole};
use crate::history::{self, History};
use crate::program;
use crate::reading::sensed;
use crate::states::PageType;
use crate::tester::{Action, Schedule, Tester};
use crate::uber::Code;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_flash::script::Probe;
use interpulse_flash::suspend::Scheme;
use serde::Deserialize;
use serde_json::{Value, json};

request! {
    /// Erases of a sample of blocks under one scheme.
    struct Request {
        /// Scheme by which the die suspends erases.
        scheme: String,
        /// Time that a resumed pulse needs to regain its voltage.
        #[serde(default)]
        resume_ramp_us: f64 = 0.0..=1e5,
        /// Keys of the scheme's own.
        #[serde(default)]
        scheme_set: Vec<(String, String)>,
        /// Program/erase cycles that the blocks have seen.
        #[serde(default)]
        cycles: f64 = 0.0..=1e6,
        /// `erase-gap`: mean number of suspensions of an erase that is wanted.
        suspends: Option<f64>,
        /// `erase`: mean time from a resume to the next read (see `erase-gap`); without, nothing is suspended.
        mean_gap_us: Option<f64>,
        /// `erase`: which blocks.
        blocks: Option<Blocks>,
    }
}

/// Blocks of a sample.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocks {
    /// The first one.
    first: u32,
    /// How many.
    count: u32,
    /// Word lines of each.
    word_lines: u32,
    /// Cells of a word line.
    cells: u32,
}

/// The part on the tester under the request's scheme.
fn tester(request: &Request) -> Result<Tester, JobError> {
    let erase = super::scheme(&request.scheme, &request.scheme_set)?;
    let mut tester = super::tester_of(&request.preset, &request.set, Scheme::None, erase)?;
    tester.nand.erase_suspend.resume_ramp = Duration::from_ns((request.resume_ramp_us * 1e3) as u64);
    Ok(tester)
}

/// Erases every block once; see [`Request`].
///
/// Returns, block by block, loops, times, suspensions, stress in whole pulses and the erased state.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("erase", request)?;
    let Some(blocks) = &request.blocks else {
        return Err(JobError("erase: blocks = {first, count, word_lines, cells} are missing".into()));
    };
    if request.suspends.is_some() {
        return Err(JobError("erase: suspends belongs to erase-gap, whose mean_gap_us erase takes".into()));
    }
    within("blocks.first", blocks.first, 0..=1_000_000)?;
    within("blocks.count", blocks.count, 1..=100_000)?;
    within("blocks.word_lines", blocks.word_lines, 1..=1_000)?;
    within("blocks.cells", blocks.cells, 64..=1 << 20)?;
    let tester = tester(&request)?;
    let worn = tester.cells.worn(request.cycles);
    let gap = match request.mean_gap_us {
        Some(us) => Some(Duration::from_ns((within("mean_gap_us", us, 1.0..=1e9)? * 1e3) as u64)),
        None => None,
    };
    let rows: Vec<Value> = (blocks.first..blocks.first + blocks.count)
        .map(|block| {
            let key = mix(request.seed ^ mix(u64::from(block) | 1 << 40));
            let mut lines = programmed(&worn, blocks, key, request.cycles);
            let schedule = tester.erase(gap.map(random), key);
            let done = follow::erase(&worn, &schedule, &mut lines, key, request.cycles);
            row(&done, &lines)
        })
        .collect();
    Ok(json!({ "blocks": rows }))
}

/// The mean time from a resume to the next read at which an erase of a [`Request`] is suspended as often as wanted; under a
/// scheme that allows fewer suspensions, the shortest.
pub(super) fn gap(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("erase-gap", request)?;
    let Some(suspends) = request.suspends else {
        return Err(JobError("erase-gap: suspends is missing".into()));
    };
    within("suspends", suspends, 0.1..=10_000.0)?;
    let found = find_gap(&tester(&request)?, request.seed, request.cycles, suspends);
    Ok(json!({ "mean_gap_us": found.as_ns() as f64 / 1e3 }))
}

fn random(gap: Duration) -> Probe {
    Probe { first: gap, then: gap, random: true }
}

/// Word lines of a block with random data.
fn programmed(of: &Coefficients, blocks: &Blocks, block: u64, cycles: f64) -> Vec<Cells> {
    (0..blocks.word_lines)
        .map(|k| {
            let mut cells =
                Cells::erased(of, blocks.cells as usize, mix(block ^ mix(u64::from(k))), cycles as u64);
            let data = cells.random_data(0, 0..8);
            program::program(of, &mut cells, &data, 0);
            cells
        })
        .collect()
}

/// Suspensions that are looked at for each gap that is tried, about, and the least and most erases for them.
const TRIED: (f64, f64, f64) = (2_000.0, 3.0, 32.0);

fn find_gap(tester: &Tester, seed: u64, cycles: f64, suspends: f64) -> Duration {
    let of = &tester.cells.erase;
    let mut trial = tester.clone();
    trial.part.erase.loops = libm::round(f64::from(of.loops) + of.extra_loops(0, cycles)) as u32;
    let erases = (TRIED.0 / suspends).clamp(TRIED.1, TRIED.2) as u64;
    let mean = |gap_us: f64| {
        let suspends = |schedule: Schedule| {
            schedule.steps.iter().filter(|step| matches!(step.action, Action::Suspend { .. })).count()
        };
        let probe = random(Duration::from_ns((gap_us * 1e3) as u64));
        let total: usize = (0..erases).map(|k| suspends(trial.erase(Some(probe), mix(seed ^ k)))).sum();
        total as f64 / erases as f64
    };
    // Downwards from where almost nothing is suspended: a starved erase is simulated for seconds, so few are tried.
    let (mut often, mut seldom) = (1e6f64, 1e6f64);
    while often > 20.0 && mean(often) < suspends {
        (often, seldom) = (often / 2.0, often);
    }
    for _ in 0..12 {
        let middle = libm::sqrt(often * seldom);
        if mean(middle) > suspends { often = middle } else { seldom = middle }
    }
    Duration::from_ns((seldom * 1e3) as u64)
}

fn row(done: &Erased, lines: &[Cells]) -> Value {
    let all: Vec<f32> = lines.iter().flat_map(|cells| cells.vth.iter().copied()).collect();
    let mean = all.iter().map(|v| f64::from(*v)).sum::<f64>() / all.len() as f64;
    let squares = all.iter().map(|v| (f64::from(*v) - mean) * (f64::from(*v) - mean)).sum::<f64>();
    json!({
        "loops": done.loops,
        "suspends": done.suspends,
        "passed": done.passed,
        "end_us": done.end.as_ns() as f64 / 1e3,
        "own_us": done.own.as_ns() as f64 / 1e3,
        "stress_pulses": done.stress,
        "erased_mean_steps": mean,
        "erased_sd_steps": libm::sqrt(squares / all.len() as f64),
    })
}

request! {
    /// Bit errors of blocks that wore like this many undisturbed cycles.
    struct ErrorRequest {
        /// Cycles whose wear the cells have.
        cycles: f64 = 0.0..=1e6,
        /// By how much the erased state lies deeper than that of an undisturbed erase, in steps.
        #[serde(default)]
        deeper_steps: f64 = -500.0..=500.0,
        /// Time since they were programmed.
        hours: f64 = 0.0..=1e7,
        /// Temperature in that time.
        celsius: f64 = -40.0..=125.0,
        /// Errors that the code corrects in a KiB.
        corrects_per_kib: u32 = 0..=4096,
        /// Word lines.
        word_lines: u32 = 1..=100_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
    }
}

/// Raw and uncorrectable bit error rates, with calibrated reads; see [`ErrorRequest`].
pub(super) fn errors(request: &Value) -> Result<Value, JobError> {
    let request = ErrorRequest::read("erase-errors", request)?;
    let (of, _) = Coefficients::resolve(&request.preset, overrides(&request.set)?)?;
    let mut worn = of.worn(request.cycles);
    worn.erased.mean -= request.deeper_steps as f32;
    let default = whole(&worn.read.default);
    let then =
        History { hours: request.hours, celsius: request.celsius, ..History::fresh(&of, request.cycles) };
    let mut rates: [Vec<f64>; 3] = Default::default();
    let mut loops = 0;
    for k in 0..request.word_lines {
        let mut cells =
            Cells::erased(&worn, request.cells as usize, mix(request.seed ^ mix(u64::from(k) | 1 << 41)), 0);
        let data = cells.random_data(0, 0..8);
        loops += program::program(&worn, &mut cells, &data, 0);
        let aged = history::aged(&of, &cells, 0, &then);
        let histogram = Histogram::of(&sensed(&worn, &aged, 0), &data);
        let best = histogram.best_levels(&default);
        for (rates, (_, page)) in rates.iter_mut().zip(PageType::ALL) {
            rates.push(histogram.page_errors(&best, page) as f64 / f64::from(request.cells));
        }
    }
    let code = Code { corrects: request.corrects_per_kib, ..Code::PER_KIB_80 };
    let pages: serde_json::Map<String, Value> = PageType::ALL
        .iter()
        .zip(&rates)
        .map(|((name, _), rates)| {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            (name.to_string(), json!({ "rber": mean, "uber": code.uber(rates) }))
        })
        .collect();
    Ok(json!({ "pages": pages, "loops_mean": f64::from(loops) / f64::from(request.word_lines) }))
}
