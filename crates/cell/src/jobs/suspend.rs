//! Program suspension on the tester (Zambelli et al. 2021, Figures 3 and 5 to 9).
//!
//! A program starts; after Delay1 a read suspends it; after each command to resume the next read comes after Delay2, until
//! the program is over. Delays are fractions of the mean unsuspended program time t_PGM.

use super::{JobError, request, tester, within};
use crate::cells::Cells;
use crate::follow;
use crate::histogram::{Histogram, whole};
use crate::history::{self, History};
use crate::program;
use crate::reading::sensed;
use crate::states::PageType;
use crate::tester::Tester;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::power;
use interpulse_flash::script::Probe;
use serde_json::{Value, json};

request! {
    /// One pair of delays (or none) on a sample of word lines.
    struct Request {
        /// Scheme by which the die suspends programs.
        #[serde(default = "loop_boundary")]
        scheme: String,
        /// Mean unsuspended program time; needed where there are delays.
        tpgm_us: Option<f64>,
        /// From the first pulse to the first read, as a fraction of it; without, nothing is suspended.
        delay1: Option<f64>,
        /// From each command to resume to the next read, as a fraction of it.
        delay2: Option<f64>,
        /// The page that is read in suspensions, and whose errors are counted.
        page_type: String,
        /// Word lines, the first ones of the sample that the seed selects.
        word_lines: u32 = 1..=100_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
        /// How the tester notes the program's end: `host` looks only when a delay is over, `device` watches ready/busy.
        #[serde(default = "host")]
        poll: String,
    }
}

fn loop_boundary() -> String {
    "loop-boundary".into()
}

fn host() -> String {
    "host".into()
}

/// What a request comes down to.
struct Plan {
    tester: Tester,
    page: PageType,
    probe: Option<Probe>,
    /// Distinguishes the data and the noise of this program of the word lines from those of others.
    cycle: u64,
    host_polls: bool,
}

fn plan(request: &Request) -> Result<Plan, JobError> {
    let tester = tester(&request.preset, &request.set, &request.scheme, "none")?;
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
            within("tpgm_us", tpgm, 1.0..=1e6)?;
            let delay = |name, share: f64| -> Result<Duration, JobError> {
                Ok(Duration::from_ns(libm::round(within(name, share, 0.001..=10.0)? * tpgm * 1e3) as u64))
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

/// Programs every word line once; see [`Request`].
///
/// Returns the number of suspensions, times and bit errors of each word line.
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
        let done = follow::program(&plan.tester, &schedule, &mut cells, &data, plan.cycle, &[]);
        let seen = sensed(&plan.tester.cells, &cells, plan.cycle);
        let histogram = Histogram::of(&seen, &data);
        let best = histogram.best_levels(&default);
        let noted = match plan.probe {
            Some(probe) if plan.host_polls => {
                let entries: Duration = done.entries.iter().fold(Duration::ZERO, |sum, &entry| sum + entry);
                probe.first + probe.then * done.entries.len() as u64 + entries
            }
            _ => done.own,
        };
        rows.push(json!({
            "suspends": done.entries.len(),
            "teps_us": done.entries.iter().map(|&entry| us(entry)).collect::<Vec<_>>(),
            "tpgms_us": us(noted),
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

/// What the last word line of a [`Request`] went through, as phases of `[from_us, to_us, what, current_ma]` from the first
/// pulse on, to the end of its program: what a current probe on VDDcore records.
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
    let done = follow::program(&plan.tester, &schedule, &mut cells, &data, plan.cycle, &[]);
    let phases = plan.tester.phases(Kind::HostProgram, plan.probe, plan.page as u32);
    let start = phases.iter().find(|p| p.what == interpulse_flash::die::What::Pulse).map(|p| p.from);
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
    /// Word lines of a block that nothing is done to while another one is tested.
    struct Untouched {
        /// Age of its data before the test.
        age_hours: f64 = 0.0..=1e7,
        /// How long the test takes.
        hours: f64 = 0.0..=1e7,
        /// Temperature all the time.
        celsius: f64 = -40.0..=125.0,
        /// Word lines.
        word_lines: u32 = 1..=100_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
    }
}

/// Bit errors of every word line and page type before and after the test, of the same cells read twice; see [`Untouched`].
pub(super) fn untouched(request: &Value) -> Result<Value, JobError> {
    let request = Untouched::read("suspend-untouched", request)?;
    let of = tester(&request.preset, &request.set, "none", "none")?.cells;
    let default = whole(&of.read.default);
    // Another block than the one under test.
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
