//! Retention job: bit errors of programmed word lines against time, temperature, wear and reads.

use super::{JobError, check_range, overrides, request};
use crate::cells::Cells;
use crate::cells::sensed;
use crate::coefficients::Coefficients;
use crate::histogram::{Histogram, Levels, whole};
use crate::history::{History, aged};
use crate::program::program;
use crate::states::{BOUNDARIES, PageType, STATES, boundaries};
use interpulse_engine::random::mix;
use serde::Deserialize;
use serde_json::{Value, json};

/// Cells of a codeword: one KiB of a page.
const CODEWORD: usize = 8192;

request! {
    /// Word lines of one block, read after each of several histories.
    struct Request {
        /// Program/erase cycles at the program.
        cycles: f64 = 0.0..=1e6,
        /// Height of the word lines in the stack, from -1 (bottom) to 1 (top).
        #[serde(default)]
        height: f64 = -1.0..=1.0,
        /// Histories, each from the word lines as programmed.
        points: Vec<Point>,
        /// Age at which the levels of the read `frozen` were calibrated.
        #[serde(default = "day")]
        frozen_hours: f64 = 0.0..=1e7,
        /// Word lines.
        word_lines: u32 = 1..=10_000,
        /// Cells of a word line, a multiple of 8192 (a KiB of a page).
        cells: u32 = CODEWORD as u32..=1 << 20,
    }
}

/// Time, temperature and reads since the program.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    /// Time since the program.
    hours: f64,
    /// Temperature, in degrees Celsius.
    celsius: f64,
    /// Reads of average pages of other word lines of the block.
    #[serde(default)]
    reads: f64,
}

fn day() -> f64 {
    24.0
}

/// Names of the choices of read levels.
const READS: [&str; 3] = ["default", "frozen", "calibrated"];

/// Bit errors of one page type with one choice of read levels, over word lines.
#[derive(Clone, Default)]
struct Tally {
    /// Errors of each page.
    pages: Vec<u64>,
    /// Most errors in a codeword.
    worst: u32,
}

/// Programs the word lines and reads them after every history. Returns error rates by page type and read levels, calibrated
/// thresholds and states for every point.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("retention", request)?;
    check(&request)?;
    let (of, _) = Coefficients::resolve(&request.preset, overrides(&request.set)?)?;
    let there = of.worn(request.cycles).in_layer(request.height);
    let default = whole(&of.read.default);
    let fresh = History { height: request.height, ..History::fresh(&of, request.cycles) };
    let mut found: Vec<PointResult> = request.points.iter().map(|_| PointResult::default()).collect();
    for k in 0..request.word_lines {
        let mut cells = Cells::erased(&there, request.cells as usize, word_line(request.seed, k), 0);
        let data = cells.random_data(0, 0..8);
        program(&there, &mut cells, &data, 0);
        let look = |history: &History| sensed(&of, &aged(&of, &cells, 0, history), 1);
        let then = History { hours: request.frozen_hours, ..fresh };
        let frozen = Histogram::of(&look(&then), &data).best_levels(&default);
        for (found, point) in found.iter_mut().zip(&request.points) {
            let history = History { hours: point.hours, celsius: point.celsius, reads: point.reads, ..fresh };
            found.add(&look(&history), &data, &default, &frozen);
        }
    }
    let points = found.iter().zip(&request.points).map(|(found, point)| found.row(&request, point));
    Ok(json!({ "points": points.collect::<Vec<Value>>() }))
}

fn check(request: &Request) -> Result<(), JobError> {
    if !(request.cells as usize).is_multiple_of(CODEWORD) {
        return Err(JobError(format!("cells = {}: a multiple of {CODEWORD}", request.cells)));
    }
    check_range("points, their number,", request.points.len(), 1..=10_000)?;
    for point in &request.points {
        check_range("hours", point.hours, 0.0..=1e7)?;
        check_range("celsius", point.celsius, -40.0..=125.0)?;
        check_range("reads", point.reads, 0.0..=1e12)?;
    }
    Ok(())
}

/// The key of word line `k` of the block that `seed` selects.
fn word_line(seed: u64, k: u32) -> u64 {
    mix(seed ^ mix(u64::from(k) | 1 << 42))
}

/// Results at one point, over word lines.
#[derive(Clone, Default)]
struct PointResult {
    /// By page type and read levels.
    tallies: [[Tally; READS.len()]; 3],
    /// Calibrated levels of each word line.
    levels: Vec<Levels>,
    all: Histogram,
}

impl PointResult {
    fn add(&mut self, seen: &[f32], data: &[u8], default: &Levels, frozen: &Levels) {
        let one = Histogram::of(seen, data);
        let best = one.best_levels(default);
        for (read, levels) in [default, frozen, &best].into_iter().enumerate() {
            let errors = codeword_errors(seen, data, levels);
            for (page, errors) in errors.into_iter().enumerate() {
                let tally = &mut self.tallies[page][read];
                tally.pages.push(errors.iter().map(|&n| u64::from(n)).sum());
                tally.worst = errors.into_iter().fold(tally.worst, u32::max);
            }
        }
        self.levels.push(best);
        self.all.add(seen, data);
    }

    fn row(&self, request: &Request, point: &Point) -> Value {
        let bits = f64::from(request.cells);
        let mut reads = Vec::new();
        for ((name, _), tallies) in PageType::ALL.iter().zip(&self.tallies) {
            for (read, tally) in READS.iter().zip(tallies) {
                let mean = tally.pages.iter().sum::<u64>() as f64 / tally.pages.len() as f64;
                let most = tally.pages.iter().max().copied().unwrap_or(0);
                reads.push(json!({
                    "page_type": name,
                    "read": read,
                    "rber": mean / bits,
                    "rber_max": most as f64 / bits,
                    "errors_per_kib_mean": mean / bits * CODEWORD as f64,
                    "errors_per_kib_max": tally.worst,
                }));
            }
        }
        let mean_level =
            |k: usize| self.levels.iter().map(|l| f64::from(l[k])).sum::<f64>() / self.levels.len() as f64;
        let states = (0..STATES as u8).map(|s| {
            let (cells, mean, sd) = self.all.moments(s);
            json!({ "state": s, "cells": cells, "mean_steps": mean, "sd_steps": sd })
        });
        json!({
            "cycles": request.cycles,
            "height": request.height,
            "hours": point.hours,
            "celsius": point.celsius,
            "reads": point.reads,
            "rber": reads,
            "thresholds_steps": (0..BOUNDARIES).map(mean_level).collect::<Vec<f64>>(),
            "states": states.collect::<Vec<Value>>(),
        })
    }
}

/// Bit errors of each codeword of the three pages, read at `levels`.
fn codeword_errors(seen: &[f32], data: &[u8], levels: &Levels) -> [Vec<u32>; 3] {
    let mut errors: [Vec<u32>; 3] = Default::default();
    let levels = levels.map(|level| level as f32);
    let masks = PageType::ALL.map(|(_, page)| boundaries(page).fold(0u8, |mask, k| mask | 1 << k));
    // The boundaries below each state.
    let below: [u8; STATES] = std::array::from_fn(|s| (1u8 << s) - 1);
    for (seen, data) in seen.chunks(CODEWORD).zip(data.chunks(CODEWORD)) {
        let mut count = [0u32; 3];
        for (v, &state) in seen.iter().zip(data) {
            let above = levels.iter().enumerate().fold(0u8, |bits, (k, l)| bits | u8::from(v >= l) << k);
            let wrong = above ^ below[usize::from(state)];
            if wrong != 0 {
                count.iter_mut().zip(masks).for_each(|(n, mask)| *n += (wrong & mask).count_ones() & 1);
            }
        }
        errors.iter_mut().zip(count).for_each(|(errors, n)| errors.push(n));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Value {
        json!({
            "seed": 1, "preset": "a4-tlc", "cycles": 2000, "word_lines": 2, "cells": 16_384,
            "points": [{"hours": 24, "celsius": 25}, {"hours": 8760, "celsius": 25}],
        })
    }

    #[test]
    fn errors_by_codeword_and_by_histogram_agree() {
        let of = Coefficients::preset("a4-tlc").expect("it is embedded");
        let mut cells = Cells::erased(&of, 2 * CODEWORD, 3, 0);
        let data = cells.random_data(0, 0..8);
        program(&of, &mut cells, &data, 0);
        let old = aged(&of, &cells, 0, &History { hours: 1e5, ..History::fresh(&of, 3000.0) });
        let histogram = Histogram::of(&old.vth, &data);
        for levels in [whole(&of.read.default), histogram.best_levels(&whole(&of.read.default))] {
            let counted = codeword_errors(&old.vth, &data, &levels);
            for (errors, (_, page)) in counted.iter().zip(PageType::ALL) {
                let sum: u64 = errors.iter().map(|&n| u64::from(n)).sum();
                assert_eq!((errors.len(), sum), (2, histogram.page_errors(&levels, page)));
                assert!(sum > 10, "{sum}");
            }
        }
    }

    #[test]
    fn errors_grow_with_time_and_calibrated_reads_have_fewest() {
        let answer = run(&request()).expect("it is legal");
        let rate = |point: usize, page: usize, read: usize| {
            answer["points"][point]["rber"][3 * page + read]["rber"].as_f64().expect("a rate")
        };
        for page in 0..3 {
            assert!(rate(1, page, 2) > rate(0, page, 2));
            for point in 0..2 {
                assert!(rate(point, page, 2) <= rate(point, page, 0) + 1e-4, "{point} {page}");
            }
            assert_eq!(rate(0, page, 1), rate(0, page, 2), "frozen where it was calibrated");
        }
    }

    #[test]
    fn errors_name_legal_values() {
        for (key, value, expected) in [
            ("cells", json!(10_000), "a multiple of 8192"),
            ("points", json!([]), "points, their number, = 0: from 1"),
            ("points", json!([{"hours": -1, "celsius": 25}]), "hours = -1: from 0"),
            ("cycles", json!("many"), "retention: "),
            ("height", json!(2.0), "height = 2: from -1 to 1"),
        ] {
            let mut bad = request();
            bad[key] = value;
            let error = run(&bad).expect_err("it is wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
