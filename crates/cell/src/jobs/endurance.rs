//! Endurance job: program and erase times against wear.

use super::{JobError, request, tester};
use crate::cells::Cells;
use crate::layers::height;
use crate::replay;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use serde_json::{Value, json};

request! {
    /// Uninterrupted programs and erases of blocks of one wear.
    struct Request {
        /// Program/erase cycles of the blocks.
        cycles: f64 = 0.0..=1e6,
        /// Number of blocks.
        blocks: u32 = 1..=10_000,
        /// Word lines of a block, distributed evenly over the layers.
        word_lines: u32 = 1..=1_000,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
    }
}

/// Mean, minimum and maximum of a sample.
fn summary(values: &[f64]) -> Value {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    json!({ "mean": mean, "min": least, "max": most })
}

/// Programs every word line and erases every block once. Returns loops, times and failures of programs and erases.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("endurance", request)?;
    let fresh = tester(&request.preset, &request.set, "none", "none")?;
    let mut worn = fresh.clone();
    worn.cells = fresh.cells.worn(request.cycles);
    let (programs, erases) = (worn.program(None, 0), worn.erase(None, 0));
    let us = |d: Duration| d.as_ns() as f64 / 1e3;
    let (mut loops, mut times, mut slow) = (Vec::new(), Vec::new(), 0u32);
    let (mut erase_loops, mut erase_times, mut stuck) = (Vec::new(), Vec::new(), 0u32);
    for block in 0..request.blocks {
        let key = mix(request.seed ^ mix(u64::from(block) | 1 << 43));
        let mut lines = Vec::new();
        for k in 0..request.word_lines {
            let mut layer = worn.clone();
            layer.cells = worn.cells.in_layer(height(k, request.word_lines));
            let mut cells =
                Cells::erased(&layer.cells, request.cells as usize, mix(key ^ mix(u64::from(k))), 0);
            let data = cells.random_data(0, 0..8);
            let done = replay::program(&layer, &programs, &mut cells, &data, 0, &[]);
            loops.push(f64::from(done.loops));
            times.push(us(done.own));
            slow += u32::from(!done.passed);
            lines.push(cells);
        }
        // The erase applies wear itself.
        let done = replay::erase(&fresh.cells, &erases, &mut lines, key, request.cycles);
        erase_loops.push(f64::from(done.loops));
        erase_times.push(us(done.own));
        stuck += u32::from(!done.passed);
    }
    Ok(json!({
        "cycles": request.cycles,
        "program_loops": summary(&loops),
        "tprog_us": summary(&times),
        "programs_failed": slow,
        "erase_loops": summary(&erase_loops),
        "tbers_us": summary(&erase_times),
        "erases_failed": stuck,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycles: f64) -> Value {
        let request = json!({
            "seed": 1, "preset": "a4-tlc", "cycles": cycles, "blocks": 6, "word_lines": 4, "cells": 4096,
        });
        run(&request).expect("it is legal")
    }

    #[test]
    fn worn_blocks_program_faster_and_erase_slower() {
        let (fresh, worn) = (at(0.0), at(5000.0));
        let mean = |row: &Value, key: &str| row[key]["mean"].as_f64().expect("a mean");
        assert!(mean(&worn, "program_loops") < mean(&fresh, "program_loops"));
        assert!(mean(&worn, "tprog_us") < mean(&fresh, "tprog_us"));
        assert!(mean(&worn, "erase_loops") > mean(&fresh, "erase_loops") + 3.0);
        assert!(mean(&worn, "tbers_us") > 1.5 * mean(&fresh, "tbers_us"));
        assert_eq!((&fresh["programs_failed"], &fresh["erases_failed"]), (&json!(0), &json!(0)));
        // The part: 16 program loops of 125 us and 5 erase loops of 1 ms.
        assert!((mean(&fresh, "tprog_us") / 2000.0 - 1.0).abs() < 0.1, "{fresh}");
        assert!((mean(&fresh, "tbers_us") / 5000.0 - 1.0).abs() < 0.2, "{fresh}");
    }
}
