//! Program suspension job (Zambelli et al. 2021, Figures 3 and 5 to 9).
//!
//! A read suspends the program after Delay1; after each resume command the next read follows after Delay2, until the end of the
//! program. Delays are fractions of the mean unsuspended program time t_PGM.

use super::{JobError, check_range, request, tester};
use crate::cells::Cells;
use crate::cells::sensed;
use crate::histogram::{Histogram, whole};
use crate::history::{self, History};
use crate::program;
use crate::replay;
use crate::states::PageType;
use crate::tester::Tester;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::power;
use interpulse_flash::script::Probe;
use interpulse_flash::suspend::Compensation;
use serde_json::{Value, json};

request! {
    /// A pair of delays (or none) on a sample of word lines.
    struct Request {
        /// Suspension scheme of programs.
        #[serde(default = "loop_boundary")]
        scheme: String,
        /// Mean unsuspended program time; required with delays.
        tpgm_us: Option<f64>,
        /// Time from the first pulse to the first read, as a fraction of t_PGM; without it, no suspensions.
        delay1: Option<f64>,
        /// Time from each resume command to the next read, as a fraction of t_PGM.
        delay2: Option<f64>,
        /// Page that is read during suspensions, and whose errors are counted.
        page_type: String,
        /// Number of word lines.
        word_lines: u32 = 1..=100_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
        /// Detection of the end of the program: `host` polls after each delay, `device` uses ready/busy.
        #[serde(default = "host")]
        poll: String,
        /// Fall of the program voltage at a resume per e-fold of the suspended time, in steps of the voltage.
        #[serde(default)]
        compensation: f64 = 0.0..=1.0,
        /// Suspended time after which the fall begins.
        #[serde(default = "onset")]
        compensation_after_us: f64 = 1.0..=1e8,
    }
}

fn loop_boundary() -> String {
    "loop-boundary".into()
}

fn host() -> String {
    "host".into()
}

fn onset() -> f64 {
    Compensation::NONE.after.as_ns() as f64 / 1e3
}

/// A resolved request.
struct Plan {
    tester: Tester,
    page: PageType,
    probe: Option<Probe>,
    /// Number of the program, which selects data and noise.
    cycle: u64,
    host_polls: bool,
}

fn plan(request: &Request) -> Result<Plan, JobError> {
    let mut tester = tester(&request.preset, &request.set, &request.scheme, "none")?;
    tester.nand.program_suspend.compensation = Compensation {
        per_e_fold: request.compensation,
        after: Duration::from_ns(libm::round(request.compensation_after_us * 1e3) as u64),
    };
    let page = match PageType::ALL.iter().find(|(name, _)| *name == request.page_type) {
        Some(&(_, page)) => page,
        None => return Err(JobError(format!("page_type = '{}': lower, center or upper", request.page_type))),
    };
    let host_polls = match request.poll.as_str() {
        "host" => true,
        "device" => false,
        other => return Err(JobError(format!("poll = '{other}': host or device"))),
    };
    let probe = match (request.delay1, request.delay2, request.tpgm_us) {
        (None, None, _) => None,
        (Some(first), Some(then), Some(tpgm)) => {
            check_range("tpgm_us", tpgm, 1.0..=1e6)?;
            let delay =
                |name, share: f64| -> Result<Duration, JobError> {
                    Ok(Duration::from_ns(
                        libm::round(check_range(name, share, 0.001..=10.0)? * tpgm * 1e3) as u64
                    ))
                };
            Some(Probe { first: delay("delay1", first)?, then: delay("delay2", then)?, random: false })
        }
        _ => return Err(JobError("delay1, delay2 and tpgm_us: all of them, or neither delay".into())),
    };
    let cycle = probe.map_or(0, |p| mix(p.first.as_ns() ^ mix(p.then.as_ns())) | 1) ^ mix(page as u64 + 1);
    Ok(Plan { tester, page, probe, cycle, host_polls })
}

/// The key of word line `k` of the block that `seed` selects.
pub(super) fn word_line(seed: u64, k: u32) -> u64 {
    mix(seed ^ mix(u64::from(k) + 1))
}

/// Programs every word line once. Returns suspensions, times and bit errors of each.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("suspend", request)?;
    let plan = plan(&request)?;
    let schedule = plan.tester.program(plan.probe, plan.page as u32);
    let default = whole(&plan.tester.cells.read.default);
    let us = |d: Duration| d.as_ns() as f64 / 1e3;
    let mut rows = Vec::new();
    for k in 0..request.word_lines {
        let mut cells =
            Cells::erased(&plan.tester.cells, request.cells as usize, word_line(request.seed, k), plan.cycle);
        let data = cells.random_data(plan.cycle, 0..8);
        let done = replay::program(&plan.tester, &schedule, &mut cells, &data, plan.cycle, &[]);
        let seen = sensed(&plan.tester.cells, &cells, plan.cycle);
        let histogram = Histogram::of(&seen, &data);
        let best = histogram.best_levels(&default);
        let observed = match plan.probe {
            Some(probe) if plan.host_polls => {
                let entries: Duration = done.entries.iter().fold(Duration::ZERO, |sum, &entry| sum + entry);
                probe.first + probe.then * done.entries.len() as u64 + entries
            }
            _ => done.own,
        };
        rows.push(json!({
            "suspends": done.entries.len(),
            "teps_us": done.entries.iter().map(|&entry| us(entry)).collect::<Vec<_>>(),
            "tpgms_us": us(observed),
            "own_us": us(done.own),
            "loops": done.loops,
            "passed": done.passed,
            "running_at_delay1": plan.probe.is_some_and(|probe| probe.first < done.end),
            "bits": request.cells,
            "errors_default": histogram.page_errors(&default, plan.page),
            "errors_calibrated": histogram.page_errors(&best, plan.page),
        }));
    }
    Ok(json!({ "word_lines": rows }))
}

/// Returns the phases `[from_us, to_us, what, current_ma]` of the last word line from the first pulse to the end of its
/// program, as a current probe on VDDcore records them.
pub(super) fn trace(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("suspend-trace", request)?;
    let plan = plan(&request)?;
    let schedule = plan.tester.program(plan.probe, plan.page as u32);
    let mut cells = Cells::erased(
        &plan.tester.cells,
        request.cells as usize,
        word_line(request.seed, request.word_lines - 1),
        plan.cycle,
    );
    let data = cells.random_data(plan.cycle, 0..8);
    let done = replay::program(&plan.tester, &schedule, &mut cells, &data, plan.cycle, &[]);
    let phases = plan.tester.phases(Kind::HostProgram, plan.probe, plan.page as u32);
    let start = phases.iter().find(|p| p.what == interpulse_flash::die::DiePhase::Pulse).map(|p| p.from);
    let Some(start) = start else { return Ok(json!({ "phases": [] })) };
    let rows: Vec<Value> = phases
        .iter()
        .filter(|p| p.from >= start && p.from.since(start) < done.end)
        .map(|p| {
            let us = |at: interpulse_engine::SimTime| at.since(start).as_ns() as f64 / 1e3;
            let current = power::trace(&plan.tester.part, &[*p])[0].current;
            json!([us(p.from), us(p.to), p.what.name(), current.as_ua() as f64 / 1e3])
        })
        .collect();
    Ok(json!({ "phases": rows, "suspends": done.entries.len(), "loops": done.loops }))
}

request! {
    /// Word lines of an idle block during the test of another block.
    struct Untouched {
        /// Age of the data before the test.
        age_hours: f64 = 0.0..=1e7,
        /// Length of the test.
        hours: f64 = 0.0..=1e7,
        /// Temperature.
        celsius: f64 = -40.0..=125.0,
        /// Word lines.
        word_lines: u32 = 1..=100_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
    }
}

/// Returns bit errors of every word line and page type before and after the test, from two reads of the same cells.
pub(super) fn untouched(request: &Value) -> Result<Value, JobError> {
    let request = Untouched::read("suspend-untouched", request)?;
    let of = tester(&request.preset, &request.set, "none", "none")?.cells;
    let default = whole(&of.read.default);
    // Differs from the block under test.
    let block = mix(request.seed ^ (1 << 42));
    let mut rows = Vec::new();
    for k in 0..request.word_lines {
        let mut cells = Cells::erased(&of, request.cells as usize, word_line(block, k), 0);
        let data = cells.random_data(0, 0..8);
        program::program(&of, &mut cells, &data, 0);
        let mut row = serde_json::Map::new();
        let times = [("before", request.age_hours), ("after", request.age_hours + request.hours)];
        for (read, (when, hours)) in times.into_iter().enumerate() {
            let then = History { hours, celsius: request.celsius, ..History::fresh(&of, 0.0) };
            let histogram =
                Histogram::of(&sensed(&of, &history::aged(&of, &cells, 0, &then), read as u64), &data);
            let best = histogram.best_levels(&default);
            for (name, page) in PageType::ALL {
                row.insert(
                    format!("{name}_{when}"),
                    json!({
                        "bits": request.cells,
                        "errors_default": histogram.page_errors(&default, page),
                        "errors_calibrated": histogram.page_errors(&best, page),
                    }),
                );
            }
        }
        rows.push(Value::Object(row));
    }
    Ok(json!({ "word_lines": rows }))
}
