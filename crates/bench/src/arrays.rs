//! Array benchmark: CPU time per flash operation of four drives, against one drive of the same total capacity and
//! load.
//!
//! A flash operation is a page read, program or erase for the host or for garbage collection. Requests are not
//! compared: a RAID-5 needs more operations per request than one drive.

use crate::row;
use interpulse_drive::PreconditionedState;
use interpulse_study::case as cases;
use interpulse_study::config::Case;
use interpulse_study::initial_state::snapshot;
use interpulse_study::run::warm_up::Warmup;
use interpulse_study::run::{self, Measured};
use serde_json::{Value, json};
use std::path::Path;

/// Drives per array.
const DRIVES: u32 = 4;

/// A drive or an array under a load.
pub struct ArrayRow {
    /// Name.
    pub name: &'static str,
    /// The single-drive row to compare with; `None` for a single drive.
    pub than: Option<&'static str>,
    /// Seconds per round.
    pub round_s: f64,
    level: Option<&'static str>,
    read: &'static str,
}

const fn one(name: &'static str, read: &'static str, round_s: f64) -> ArrayRow {
    ArrayRow { name, than: None, round_s, level: None, read }
}

const fn array(
    name: &'static str,
    than: &'static str,
    level: &'static str,
    read: &'static str,
    round_s: f64,
) -> ArrayRow {
    ArrayRow { name, than: Some(than), round_s, level: Some(level), read }
}

/// Rows in order; each follows the row to compare with.
pub const ROWS: &[ArrayRow] = &[
    one("one-read", "100%", 8.0),
    array("raid0-read", "one-read", "raid0", "100%", 5.5),
    array("raid5-read", "one-read", "raid5", "100%", 5.5),
    one("one-mixed", "50%", 9.0),
    array("raid0-mixed", "one-mixed", "raid0", "50%", 7.0),
    array("raid5-mixed", "one-mixed", "raid5", "50%", 12.0),
    one("one-write", "0%", 9.0),
    array("raid0-write", "one-write", "raid0", "0%", 7.0),
    array("raid5-write", "one-write", "raid5", "0%", 18.0),
];

impl ArrayRow {
    /// Configuration, with `requests` instead of the default number.
    pub fn case(&self, quick: bool, requests: Option<u64>) -> Result<Case, String> {
        let requests = requests.unwrap_or(if quick { 50_000 } else { 4_000_000 });
        let mut sets = shape(self.level.is_none(), quick);
        let mut set = |key: &str, value: String| sets.push((key.into(), value));
        if let Some(level) = self.level {
            set("array.level", format!("\"{level}\""));
            set("array.drives", DRIVES.to_string());
        }
        set("flow.0.read", format!("\"{}\"", self.read));
        set("flow.0.depth", "64".into());
        set("run.requests", requests.to_string());
        row::case(quick, sets)
    }
}

/// Channels and cache: an array has the same totals as the single drive.
fn shape(one: bool, quick: bool) -> Vec<(String, String)> {
    let (channels, cache) = if quick { (16, 64) } else { (16, 256) };
    let share = if one { 1 } else { DRIVES };
    vec![
        ("geometry.channels".into(), (channels / share).to_string()),
        ("cache.size".into(), format!("\"{}MiB\"", cache / share)),
    ]
}

/// Runs a row in this process and returns it as JSON.
pub fn run(name: &str, case: &Case, folder: &Path) -> Result<Value, String> {
    let state = snapshot::load(&case.drive, folder, &case.state_hash(), &mut |_, _| true)
        .map_err(|e| e.to_string())?;
    let m = if case.array.is_some() { run_array(case, state) } else { run_one(case, state) }?;
    let operations = m.nand.operations();
    Ok(json!({
        "name": name,
        "requests": m.window.counters.requests,
        "flash_operations": operations,
        "cpu_s": m.window_cpu_s,
        "cpu_ns_per_flash_operation": m.window_cpu_s * 1e9 / operations as f64,
    }))
}

fn run_one(case: &Case, state: PreconditionedState) -> Result<Measured, String> {
    let mut stepper = cases::drive(case, &case.flows, state).map_err(|e| e.to_string())?;
    run::run(&mut stepper, &case.run, &Warmup::of(case, &[]), &mut |_, _, _| true).map_err(|e| e.to_string())
}

fn run_array(case: &Case, state: PreconditionedState) -> Result<Measured, String> {
    let mut stepper = cases::array(case, &case.flows, state).map_err(|e| e.to_string())?;
    run::run(&mut stepper, &case.run, &Warmup::of(case, &[]), &mut |_, _, _| true).map_err(|e| e.to_string())
}
