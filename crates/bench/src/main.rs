//! The benchmark: host requests per CPU second of one thread on the drive preset a4 at full geometry, after
//! preconditioning, with audits and accounts on; and cell pulses per CPU second of the cell model.
//!
//! The parent preconditions once and keeps the state in a temporary snapshot; every row runs in a process of
//! its own that restores it, so that the peak memory of a row is that of one drive. Rows take turns for so many rounds,
//! and the fastest run of each counts: whatever else a machine does only ever adds CPU time, and it rarely does so in all
//! rounds, or to one row alone.

mod args;
mod arrays;
mod cells;
mod instructions;
mod row;
mod table;

use args::Args;
use clap::Parser;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match (&args.row, args.instructions) {
        (Some(name), _) if name == cells::NAME => {
            let word_lines = args.requests.unwrap_or(cells::WORD_LINES[usize::from(args.quick)]);
            cells::run(word_lines).map(|row| println!("{row}"))
        }
        (Some(name), _) => match arrays::find(name) {
            Some(spec) => arrays::run_here(spec, &args),
            None => row::run_here(name, &args),
        }
        .map(|row| println!("{row}")),
        (None, true) => instructions::measure(args.against.as_deref(), args.json),
        (None, false) => bench(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn bench(args: &Args) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let made = row::prepare(folder.path(), args.quick)?;
    eprintln!(
        "preconditioned in {:.1} s; state of {} MB in a temporary folder, deleted at the end",
        made.precondition_s,
        made.bytes / 1_000_000
    );
    let names: Vec<&str> = row::ROWS.iter().map(|spec| spec.name).chain([cells::NAME]).collect();
    let mut rows = fastest(&names, folder.path(), args)?;
    let pulses = rows.pop().ok_or("cells are a row")?;
    for row in &mut rows {
        row["precondition_s"] = made.precondition_s.into();
    }
    arrays::prepare(folder.path(), args.quick)?;
    let names: Vec<&str> = arrays::ROWS.iter().map(|spec| spec.name).collect();
    let arrays = fastest(&names, folder.path(), args)?;
    if args.json {
        let all = rows.iter().chain([&pulses]).chain(&arrays).cloned().collect();
        println!("{}", Value::Array(all));
    } else {
        println!("{}", table::render(&rows));
        println!(
            "Cells: {:.0} million cell pulses per CPU second of one core, verifies included.",
            pulses["cell_pulses_per_cpu_s"].as_f64().unwrap_or(0.0) / 1e6
        );
        println!("\n{}", arrays::render(&arrays, "cpu_ns_per_flash_operation", "CPU ns"));
        if let Some(cost) = row::suspension_cost(&rows) {
            println!(
                "Suspension costs {:.0} % CPU time per request at the same arrivals.",
                (cost - 1.0) * 100.0
            );
        }
        if args.quick {
            println!(
                "\nThese runs took milliseconds: they show that the benchmark works, and measure nothing."
            );
        }
    }
    if args.quick {
        return Ok(());
    }
    cells::check(&pulses)?;
    rows.iter().zip(row::ROWS).try_for_each(|(row, spec)| spec.check(row))
}

/// Runs the rows in turn, round after round, and returns the run of each that took the least CPU time.
fn fastest(names: &[&str], state: &Path, args: &Args) -> Result<Vec<Value>, String> {
    let rounds = if args.quick { 1 } else { args.rounds };
    let mut rows: Vec<Option<Value>> = vec![None; names.len()];
    for round in 1..=rounds {
        for (best, name) in rows.iter_mut().zip(names) {
            eprintln!("running {name}, round {round} of {rounds} ...");
            let mut row = child(name, state, args)?;
            row["rounds"] = rounds.into();
            let cpu_s = |row: &Value| row["cpu_s"].as_f64().unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|best| cpu_s(&row) < cpu_s(best)) {
                *best = Some(row);
            }
        }
    }
    Ok(rows.into_iter().flatten().collect())
}

/// Runs a row in a process of its own and reads its JSON line.
fn child(name: &str, state: &Path, args: &Args) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let mut command = std::process::Command::new(program);
    command.args(["--row", name, "--state"]).arg(state);
    if args.quick {
        command.arg("--quick");
    }
    if let Some(n) = args.requests {
        command.args(["--requests", &n.to_string()]);
    }
    let output =
        command.stderr(std::process::Stdio::inherit()).output().map_err(|e| format!("row {name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("row {name} failed: {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("row {name} printed no JSON: {e}"))
}
