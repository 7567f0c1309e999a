//! The rows of the benchmark: host requests per CPU second of one thread on the drive preset a4 at full geometry, after
//! preconditioning, with audits and accounts on; the same for four drives; and cell pulses per CPU second of the cell
//! model.
//!
//! A row runs on a state that a step before it has preconditioned and kept in a folder. Whoever benchmarks runs each row
//! in a process of its own, so that its peak memory is that of one drive.

mod arrays;
mod cells;
mod row;

use interpulse_study::config::Case;
use serde_json::{Value, json};
use std::path::Path;

/// Does one step, told as the words of a command line: `rows`, `prepare NAME DIR` or `run NAME DIR [AMOUNT]`, each with
/// `--quick` for a miniature drive that shows that the benchmark works and measures nothing.
///
/// `rows` tells what there is; `prepare` keeps the state of a row in a folder; `run` runs a row on it, with AMOUNT requests
/// (of cells: word lines) where that is given, and says of a full run that is not what it claims to be which `problem` it
/// has.
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

/// What there is, in the order in which it runs. Rows with the same `state` run on the same preconditioned drive. Durations
/// are those of docs/VERIFY.md's machine, of a full run.
fn rows(quick: bool) -> Result<Value, String> {
    let mut told = Vec::new();
    let drives = row::ROWS.iter().map(|spec| (spec.name, "drive", None, spec.round_s));
    let arrays = arrays::ROWS.iter().map(|spec| (spec.name, "array", spec.than, spec.round_s));
    for (name, kind, than, round_s) in
        drives.chain([(cells::NAME, "cells", None, cells::ROUND_S)]).chain(arrays)
    {
        let case = case_of(name, quick, None)?;
        let prepare_s = case.as_ref().map_or(0.0, |case| row::PREPARE_S * share_of_full(case));
        told.push(json!({
            "name": name,
            "kind": kind,
            "than": than,
            "state": case.map(|case| case.state_hash()),
            "prepare_s": prepare_s,
            "round_s": round_s,
        }));
    }
    Ok(Value::Array(told))
}

/// How large the drive of a case is, over the full one.
fn share_of_full(case: &Case) -> f64 {
    f64::from(case.drive.geometry.channels) / 16.0
}

/// The configuration of a row; `None` for cells, which need no drive.
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
    let (mut told, checked) = match case_of(name, quick, amount)? {
        None => {
            let told = cells::run(amount.unwrap_or(cells::WORD_LINES[usize::from(quick)]))?;
            let checked = cells::check(&told);
            (told, checked)
        }
        Some(case) => match row::ROWS.iter().find(|spec| spec.name == name) {
            None => (arrays::run(name, &case, folder)?, Ok(())),
            Some(spec) => {
                let told = row::run(name, &case, folder)?;
                let checked = spec.check(&told);
                (told, checked)
            }
        },
    };
    if let (Err(problem), false, None) = (checked, quick, amount) {
        told["problem"] = problem.into();
    }
    Ok(told)
}
