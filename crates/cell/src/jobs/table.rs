//! Error table jobs: measurement of one condition, and assembly of the table.

use super::{JobError, check_range, overrides, request};
use crate::coefficients::Coefficients;
use crate::error_table::{Added, Condition, Errors, Plan};
use serde_json::{Value, json};

request! {
    /// One condition.
    struct Piece {
        /// Parameters of the measurement.
        plan: Plan,
        /// Program/erase cycles.
        cycles: f64 = 0.0..=1e6,
        /// Relative height in the stack, from 0 (bottom) to 1.
        layer_fraction: f64 = 0.0..=1.0,
    }
}

request! {
    /// Assembly of all conditions.
    struct Whole {
        /// Parameters of the measurement.
        plan: Plan,
        /// Title of the table.
        title: String,
        /// Source of the table.
        source: String,
        /// Axis: program/erase cycles.
        cycles: Vec<u32>,
        /// Axis: relative heights in the stack.
        layer_fraction: Vec<f64>,
        /// Results of all conditions, by cycles, then by layer.
        errors: Vec<Errors>,
        /// Read disturb: cycles, reads of a block per page, additional errors per bit.
        added: Vec<(f64, f64, f64)>,
    }
}

/// The validated plan of a request with its seed.
fn plan(seed: u64, of: Plan) -> Result<Plan, JobError> {
    check_range("celsius", of.celsius, -40.0..=125.0)?;
    check_range("word_lines", of.word_lines, 1..=10_000)?;
    check_range("cells", of.cells, 64..=1 << 20)?;
    check_range("hours, their number,", of.hours.len(), 1..=1000)?;
    for hours in of.hours.iter().chain(&of.retry_hours) {
        check_range("hours", *hours, 1e-9..=1e7)?;
    }
    Ok(Plan { seed, ..of })
}

/// Measures one condition. Returns bit errors by retention, page type, attempt and word line.
pub(super) fn piece(request: &Value) -> Result<Value, JobError> {
    let request = Piece::read("error-table-piece", request)?;
    let (of, _) = Coefficients::resolve(&request.preset, overrides(&request.set)?)?;
    let condition = Condition { cycles: request.cycles, layer_fraction: request.layer_fraction };
    Ok(json!({ "errors": plan(request.seed, request.plan)?.measure(&of, condition) }))
}

/// Assembles the table. Returns it as TOML.
pub(super) fn whole(request: &Value) -> Result<Value, JobError> {
    let request = Whole::read("error-table", request)?;
    Coefficients::resolve(&request.preset, overrides(&request.set)?)?;
    let plan = plan(request.seed, request.plan)?;
    let (attempts, pages) = (plan.attempts().len(), plan.word_lines as usize);
    let shaped = |errors: &Errors| {
        errors.len() == plan.hours.len()
            && errors.iter().all(|types| types.len() == 3)
            && errors.iter().flatten().all(|reads| reads.len() == attempts)
            && errors.iter().flatten().flatten().all(|counts| counts.len() == pages)
    };
    if request.errors.len() != request.cycles.len() * request.layer_fraction.len()
        || !request.errors.iter().all(shaped)
    {
        let expected = "one result of error-table-piece for every cycle count and layer of this plan";
        return Err(JobError(format!("errors: {expected}")));
    }
    let added: Vec<Added> = request
        .added
        .iter()
        .map(|&(cycles, reads_per_page, rber)| Added { cycles, reads_per_page, rber })
        .collect();
    let table = plan.table(
        &request.title,
        &request.source,
        &request.cycles,
        &request.layer_fraction,
        &request.errors,
        &added,
    );
    table.check().map_err(|why| JobError(format!("{}: {}", why.key, why.legal)))?;
    let disturb = table.disturb.map(|d| {
        json!({
            "coefficient": d.coefficient,
            "cycles_exponent": d.cycles_exponent,
            "reads_exponent": d.reads_exponent,
        })
    });
    Ok(json!({ "toml": table.to_toml(), "spread_ln_sd": table.spread_ln_sd, "disturb": disturb }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_a_table_and_wrong_pieces_do_not() {
        let shape =
            json!({"hours": [24.0], "celsius": 40, "retry_hours": [720.0], "word_lines": 2, "cells": 4096});
        let ask = |more: Value| {
            let mut request = json!({"seed": 1, "preset": "a4-tlc", "plan": shape});
            more.as_object().expect("fields").iter().for_each(|(k, v)| request[k] = v.clone());
            request
        };
        let one = piece(&ask(json!({"cycles": 1000, "layer_fraction": 0.5}))).expect("it is legal");
        let rest = json!({
            "title": "cells", "source": "a test", "cycles": [1000], "layer_fraction": [0.5], "errors": [one["errors"]],
            "added": [],
        });
        let made = whole(&ask(rest.clone())).expect("it is legal");
        let text = made["toml"].as_str().expect("a text");
        let table = interpulse_flash::errors::ErrorTable::from_toml(text, "made").expect("a table");
        assert_eq!((table.cycles, table.temperature_c), (vec![1000], 40.0));
        let mut two = rest;
        two["cycles"] = json!([1000, 2000]);
        let error = whole(&ask(two)).expect_err("a piece lacks").to_string();
        assert!(error.contains("errors: one result"), "{error}");
    }
}
