//! Job that assembles the error table of drives with reprogrammed word lines from slices of blocks simulated apart.

use super::{Chip, Page};
use crate::error_counts::filled;
use crate::error_table::PAGE_TYPES;
use crate::jobs::{JobError, overrides, request};
use crate::states::PageType;
use interpulse_flash::errors::ErrorTable;
use serde_json::{Value, json};

/// Names of the read attempts.
const ATTEMPTS: [&str; 2] = ["default", "calibrated"];

request! {
    /// Request to assemble the results of all slices; its overrides are those of the slices.
    struct Whole {
        /// Title of the table.
        title: String,
        /// Source of the table.
        source: String,
        /// Axis: program/erase cycles.
        cycles: Vec<u32>,
        /// Axis: retention in hours.
        hours: Vec<f64>,
        /// Temperature of the retention, in degrees Celsius.
        celsius: f64,
        /// Axis: reprograms of a word line.
        reprograms: Vec<u32>,
        /// Axis: relative heights in the stack.
        layer_fraction: Vec<f64>,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
        /// Key `aged` of each slice, in the order of cycles, reprograms and layers; layers vary fastest. Each has the
        /// pages after each of `hours`.
        pieces: Vec<Vec<Vec<Page>>>,
    }
}

/// Assembles the table. Returns it as TOML, and the spread between the pages of an entry.
///
/// A reprogrammed word line has no center page: its lower page is lsb in the table, its upper page both csb and msb.
pub(in crate::jobs) fn table(request: &Value) -> Result<Value, JobError> {
    let request = Whole::read("reprogram-table", request)?;
    Chip::resolve(&request.preset, overrides(&request.set)?)?;
    let axes = ErrorTable {
        title: request.title,
        source: request.source,
        temperature_c: request.celsius,
        cycles: request.cycles,
        retention_h: request.hours,
        reprograms: request.reprograms,
        layer_fraction: request.layer_fraction,
        page_types: PAGE_TYPES.map(str::to_string).to_vec(),
        attempts: ATTEMPTS.map(str::to_string).to_vec(),
        rber: Vec::new(),
        spread_ln_sd: 0.0,
        disturb: None,
    };
    let counts = counts(&axes, &request.pieces)?;
    let table = filled(axes, request.cells, &counts);
    table.check().map_err(|why| JobError(format!("{}: {}", why.key, why.legal)))?;
    Ok(json!({ "toml": table.to_toml(), "spread_ln_sd": table.spread_ln_sd }))
}

/// The errors of the pages of every entry, in the order of the table.
fn counts(axes: &ErrorTable, pieces: &[Vec<Vec<Page>>]) -> Result<Vec<Vec<u64>>, JobError> {
    let (hours, layers) = (axes.retention_h.len(), axes.layer_fraction.len());
    let of_cycles = axes.reprograms.len() * layers;
    let all =
        pieces.len() == axes.cycles.len() * of_cycles && pieces.iter().all(|piece| piece.len() == hours);
    if !all || pieces.is_empty() {
        let expected = "one piece for every cycle count, reprogram count and layer, each with all hours";
        return Err(JobError(format!("pieces: {expected}")));
    }
    let mut counts = Vec::with_capacity(axes.entries());
    for pieces in pieces.chunks(of_cycles) {
        for t in 0..hours {
            for piece in pieces {
                counts.extend(of_word_lines(&piece[t])?);
            }
        }
    }
    Ok(counts)
}

/// The errors of the pages of some word lines, by page type and attempt.
fn of_word_lines(pages: &[Page]) -> Result<Vec<Vec<u64>>, JobError> {
    let of =
        |page_type: PageType| pages.iter().filter(|page| page.page_type == page_type).collect::<Vec<_>>();
    let [lower, center, upper] = PageType::ALL.map(|(_, page_type)| of(page_type));
    let sound =
        !lower.is_empty() && upper.len() == lower.len() && (center.is_empty() || center.len() == lower.len());
    if !sound {
        let found = format!("{} lower, {} center, {} upper", lower.len(), center.len(), upper.len());
        return Err(JobError(format!(
            "pieces: {found} pages; needs equal numbers of each, or no center pages"
        )));
    }
    let center = if center.is_empty() { upper.clone() } else { center };
    let both = |pages: &Vec<&Page>| {
        let errors = |of: fn(&Page) -> u64| pages.iter().map(|page| of(page)).collect::<Vec<u64>>();
        [errors(|page| page.errors_default), errors(|page| page.errors_calibrated)]
    };
    Ok([lower, center, upper].iter().flat_map(both).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(page_type: &str, errors: u64) -> Value {
        json!({"layer": 0, "word_line": 0, "page_type": page_type, "errors_default": 10 * errors, "errors_calibrated": errors})
    }

    /// Two reprogram counts and two ages: 100 errors of a TLC word line, 200 (lower) and 300 (upper) of a reprogrammed one;
    /// twice as many when old.
    fn request() -> Value {
        let normal = |n: u64| vec![page("lower", n), page("center", n), page("upper", n)];
        let again = |n: u64| vec![page("lower", 2 * n), page("upper", 3 * n)];
        json!({
            "seed": 1, "preset": "b17a-tlc", "title": "cells", "source": "a test", "cycles": [1000],
            "hours": [24.0, 720.0], "celsius": 40.0, "reprograms": [0, 2], "layer_fraction": [0.5], "cells": 100_000,
            "pieces": [[normal(100), normal(200)], [again(100), again(200)]],
        })
    }

    #[test]
    fn pieces_make_a_table_that_drives_read() {
        let made = table(&request()).expect("it is legal");
        let read = ErrorTable::from_toml(made["toml"].as_str().expect("a text"), "made").expect("a table");
        assert_eq!((&read.reprograms, &read.cycles), (&vec![0, 2], &vec![1000]));
        assert_eq!((read.temperature_c, read.spread_ln_sd), (40.0, 0.0));
        assert_eq!(read.attempts, ATTEMPTS);
        let errors = |t: usize, r: usize, page: usize, attempt: usize| {
            read.rber[read.index([0, t, r, 0, page, attempt])] * 100_000.0 - 0.5
        };
        for (t, times) in [(0, 1.0), (1, 2.0)] {
            for (page, again) in [(0, 200.0), (1, 300.0), (2, 300.0)] {
                for (attempt, factor) in [(0, 10.0), (1, 1.0)] {
                    assert!((errors(t, 0, page, attempt) - 100.0 * times * factor).abs() < 1e-6);
                    assert!((errors(t, 1, page, attempt) - again * times * factor).abs() < 1e-6);
                }
            }
        }
        assert_eq!(ErrorTable::from_toml(&read.to_toml(), "again"), Ok(read));
    }

    #[test]
    fn invalid_requests_name_the_field() {
        for (key, value, expected) in [
            ("cycles", json!([0, 1000]), "pieces: one piece for every cycle count"),
            ("hours", json!([24.0]), "pieces: one piece for every cycle count"),
            ("reprograms", json!([]), "pieces: one piece for every cycle count"),
            ("reprograms", json!([2, 0]), "reprograms: at least one count"),
            ("pieces", json!([[[], []], [[], []]]), "0 lower, 0 center, 0 upper pages"),
            ("cells", json!(0), "cells = 0: from 64"),
            ("preset", json!("b18a"), "b17a-tlc"),
        ] {
            let mut bad = request();
            bad[key] = value;
            let error = table(&bad).expect_err("it is wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
