//! Erase suspension job: effect of a scheme on the cells of a block (the second problem of Kim et al., ATC'19).
//!
//! Programmed blocks are erased while random reads suspend the erase. A scheme that restarts a pulse, or ramps its voltage
//! again, keeps the block under erase voltage for longer: the erase is deeper and causes more wear.

use super::{JobError, check_range, overrides, request};
use crate::cells::Cells;
use crate::cells::sensed;
use crate::coefficients::Coefficients;
use crate::histogram::{Histogram, whole};
use crate::history::{self, History};
use crate::program;
use crate::replay::{self, Erased};
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
        /// Suspension scheme of erases.
        scheme: String,
        /// Ramp time of a resumed pulse.
        #[serde(default)]
        resume_ramp_us: f64 = 0.0..=1e5,
        /// Keys of the scheme.
        #[serde(default)]
        scheme_set: Vec<(String, String)>,
        /// Program/erase cycles of the blocks.
        #[serde(default)]
        cycles: f64 = 0.0..=1e6,
        /// `erase-gap`: target mean number of suspensions of an erase.
        suspends: Option<f64>,
        /// `erase`: mean time from a resume to the next read (see `erase-gap`); without it, no suspensions.
        mean_gap_us: Option<f64>,
        /// `erase`: the blocks.
        blocks: Option<Blocks>,
    }
}

/// A sample of blocks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocks {
    /// First block.
    first: u32,
    /// Number of blocks.
    count: u32,
    /// Word lines of a block.
    word_lines: u32,
    /// Cells of a word line.
    cells: u32,
}

/// The tester with the scheme of the request.
fn tester(request: &Request) -> Result<Tester, JobError> {
    let erase = super::scheme(&request.scheme, &request.scheme_set)?;
    let mut tester = super::tester_of(&request.preset, &request.set, Scheme::None, erase)?;
    tester.nand.erase_suspend.resume_ramp = Duration::from_ns((request.resume_ramp_us * 1e3) as u64);
    Ok(tester)
}

/// Erases every block once. Returns loops, times, suspensions, stress in whole pulses and erased state of each block.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("erase", request)?;
    let Some(blocks) = &request.blocks else {
        return Err(JobError("erase: blocks = {first, count, word_lines, cells} is missing".into()));
    };
    if request.suspends.is_some() {
        return Err(JobError(
            "erase: suspends is a field of erase-gap; erase takes the mean_gap_us that erase-gap returns"
                .into(),
        ));
    }
    check_range("blocks.first", blocks.first, 0..=1_000_000)?;
    check_range("blocks.count", blocks.count, 1..=100_000)?;
    check_range("blocks.word_lines", blocks.word_lines, 1..=1_000)?;
    check_range("blocks.cells", blocks.cells, 64..=1 << 20)?;
    let tester = tester(&request)?;
    let worn = tester.cells.worn(request.cycles);
    let gap = match request.mean_gap_us {
        Some(us) => Some(Duration::from_ns((check_range("mean_gap_us", us, 1.0..=1e9)? * 1e3) as u64)),
        None => None,
    };
    let rows: Vec<Value> = (blocks.first..blocks.first + blocks.count)
        .map(|block| {
            let key = mix(request.seed ^ mix(u64::from(block) | 1 << 40));
            let mut lines = programmed(&worn, blocks, key, request.cycles);
            let schedule = tester.erase(gap.map(random), key);
            let done = replay::erase(&worn, &schedule, &mut lines, key, request.cycles);
            row(&done, &lines)
        })
        .collect();
    Ok(json!({ "blocks": rows }))
}

/// Finds the mean time from a resume to the next read that results in `suspends` suspensions per erase; the shortest one if
/// the scheme allows fewer.
pub(super) fn gap(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("erase-gap", request)?;
    let Some(suspends) = request.suspends else {
        return Err(JobError("erase-gap: suspends is missing".into()));
    };
    check_range("suspends", suspends, 0.1..=10_000.0)?;
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

/// Suspensions simulated per trial of a gap, and the minimum and maximum of erases.
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
    // From long gaps downwards, because a starving erase is expensive to simulate.
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
    /// Bit errors of blocks with the wear of `cycles` undisturbed cycles.
    struct ErrorRequest {
        /// Equivalent undisturbed cycles.
        cycles: f64 = 0.0..=1e6,
        /// Additional depth of the erased state over an undisturbed erase, in steps.
        #[serde(default)]
        deeper_steps: f64 = -500.0..=500.0,
        /// Retention time.
        hours: f64 = 0.0..=1e7,
        /// Temperature of the retention.
        celsius: f64 = -40.0..=125.0,
        /// Correctable errors per KiB.
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
