//! Benchmark: host requests per CPU second of one thread on the drive preset a4 at full geometry, preconditioned,
//! with audits and accounts; the same for four drives; and cell pulses per CPU second of the cell model.
//!
//! A row runs on a state that an earlier step preconditioned and stored in a folder. Each row runs in its own
//! process, so that its peak memory is that of one drive.

mod arrays;
mod cells;
mod row;

use interpulse_study::config::Case;
use serde_json::{Value, json};
use std::path::Path;

/// Runs one step given as command line words: `rows`, `prepare NAME DIR` or `run NAME DIR [AMOUNT]`, each with
/// `--quick` for a miniature drive that only tests the benchmark.
///
/// `rows` lists the rows; `prepare` stores the state of a row in a folder; `run` runs a row on it, with AMOUNT
/// requests (of cells: word lines) if given. A full run that is not valid has the entry `problem`.
pub fn step<S: AsRef<str>>(words: &[S]) -> Result<Value, String> {
    let quick = words.iter().any(|word| word.as_ref() == "--quick");
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).filter(|word| *word != "--quick").collect();
    match words[..] {
        ["rows"] => rows(quick),
        ["prepare", name, folder] => {
            let case = case_of(name, quick, None)?.ok_or_else(|| format!("row {name} has no state"))?;
            row::precondition(&case, Path::new(folder))
        }
        ["run", name, folder] => run(name, Path::new(folder), quick, None),
        ["run", name, folder, amount] => {
            let amount = amount.parse().map_err(|e| format!("{amount} is no amount: {e}"))?;
            run(name, Path::new(folder), quick, Some(amount))
        }
        _ => Err("one of: rows, prepare NAME DIR, run NAME DIR [AMOUNT]; each with --quick".into()),
    }
}

/// Rows in order. Rows with the same `state` share a preconditioned drive. Durations are those of a full run on the
/// machine of docs/VERIFY.md.
fn rows(quick: bool) -> Result<Value, String> {
    let mut rows = Vec::new();
    let drives = row::ROWS.iter().map(|spec| (spec.name, "drive", None, spec.round_s));
    let arrays = arrays::ROWS.iter().map(|spec| (spec.name, "array", spec.than, spec.round_s));
    for (name, kind, than, round_s) in
        drives.chain([(cells::NAME, "cells", None, cells::ROUND_S)]).chain(arrays)
    {
        let case = case_of(name, quick, None)?;
        let prepare_s = case.as_ref().map_or(0.0, |case| row::PREPARE_S * share_of_full(case));
        rows.push(json!({
            "name": name,
            "kind": kind,
            "than": than,
            "state": case.map(|case| case.state_hash()),
            "prepare_s": prepare_s,
            "round_s": round_s,
        }));
    }
    Ok(Value::Array(rows))
}

/// Size of the drive relative to the full one.
fn share_of_full(case: &Case) -> f64 {
    f64::from(case.drive.geometry.channels) / 16.0
}

/// Configuration of a row; `None` for cells.
fn case_of(name: &str, quick: bool, requests: Option<u64>) -> Result<Option<Case>, String> {
    if name == cells::NAME {
        return Ok(None);
    }
    if let Some(spec) = arrays::ROWS.iter().find(|spec| spec.name == name) {
        return spec.case(quick, requests).map(Some);
    }
    let spec = row::ROWS.iter().find(|spec| spec.name == name);
    spec.ok_or_else(|| format!("there is no row '{name}'"))?.case(quick, requests).map(Some)
}

/// Runs a row in this process.
fn run(name: &str, folder: &Path, quick: bool, amount: Option<u64>) -> Result<Value, String> {
    let (mut result, checked) = match case_of(name, quick, amount)? {
        None => {
            let result = cells::run(amount.unwrap_or(cells::WORD_LINES[usize::from(quick)]))?;
            let checked = cells::check(&result);
            (result, checked)
        }
        Some(case) => match row::ROWS.iter().find(|spec| spec.name == name) {
            None => (arrays::run(name, &case, folder)?, Ok(())),
            Some(spec) => {
                let result = row::run(name, &case, folder)?;
                let checked = spec.check(&result);
                (result, checked)
            }
        },
    };
    if let (Err(problem), false, None) = (checked, quick, amount) {
        result["problem"] = problem.into();
    }
    Ok(result)
}
