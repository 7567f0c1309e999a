//! What an array costs the simulator: CPU time and instructions per flash operation of four drives, against one drive of
//! the same total capacity under the same load.
//!
//! A flash operation is a page read, a program or an erase, for the host or for garbage collection. A RAID-5 does more of
//! them for a request of the host than one drive does, which is why requests are not what is compared.

use crate::args::Args;
use crate::row;
use interpulse_drive::drive::PreconditionedState;
use interpulse_study::case as cases;
use interpulse_study::config::Case;
use interpulse_study::run::{self, Measured};
use interpulse_study::snapshot;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Drives of the arrays.
const DRIVES: u32 = 4;
/// Most that the array may cost per flash operation, over the single drive.
pub const MOST: f64 = 1.20;

/// One drive, or an array, under a load.
pub struct ArrayRow {
    /// Name.
    pub name: &'static str,
    /// The row of one drive that it is compared with; `None` if it is one.
    pub than: Option<&'static str>,
    level: Option<&'static str>,
    read: &'static str,
}

const fn one(name: &'static str, read: &'static str) -> ArrayRow {
    ArrayRow { name, than: None, level: None, read }
}

const fn array(name: &'static str, than: &'static str, level: &'static str, read: &'static str) -> ArrayRow {
    ArrayRow { name, than: Some(than), level: Some(level), read }
}

/// The rows in the order they run; each comes after the one that it is compared with.
pub const ROWS: &[ArrayRow] = &[
    one("one-read", "100%"),
    array("raid0-read", "one-read", "raid0", "100%"),
    array("raid5-read", "one-read", "raid5", "100%"),
    one("one-mixed", "50%"),
    array("raid0-mixed", "one-mixed", "raid0", "50%"),
    array("raid5-mixed", "one-mixed", "raid5", "50%"),
    one("one-write", "0%"),
    array("raid0-write", "one-write", "raid0", "0%"),
    array("raid5-write", "one-write", "raid5", "0%"),
];

impl ArrayRow {
    fn case(&self, args: &Args) -> Result<Case, String> {
        let requests = args.requests.unwrap_or(if args.quick { 50_000 } else { 4_000_000 });
        let mut sets = shape(self.level.is_none(), args.quick);
        let mut set = |key: &str, value: String| sets.push((key.into(), value));
        if let Some(level) = self.level {
            set("array.level", format!("\"{level}\""));
            set("array.drives", DRIVES.to_string());
        }
        set("flow.0.read", format!("\"{}\"", self.read));
        set("flow.0.depth", "64".into());
        set("run.requests", requests.to_string());
        row::case(args.quick, sets)
    }
}

/// Channels and cache: those of the arrays' drives together are those of the one drive.
fn shape(one: bool, quick: bool) -> Vec<(String, String)> {
    let (channels, cache) = if quick { (16, 64) } else { (16, 256) };
    let share = if one { 1 } else { DRIVES };
    vec![
        ("geometry.channels".into(), (channels / share).to_string()),
        ("cache.size".into(), format!("\"{}MiB\"", cache / share)),
    ]
}

/// Preconditions the one drive and a drive of the arrays, and keeps their states in `folder`.
pub fn prepare(folder: &Path, quick: bool) -> Result<(), String> {
    for one in [true, false] {
        let mut sets = shape(one, quick);
        sets.push(("run.requests".into(), "1".into()));
        row::precondition(&row::case(quick, sets)?, folder)?;
    }
    Ok(())
}

/// The row of this name.
pub fn find(name: &str) -> Option<&'static ArrayRow> {
    ROWS.iter().find(|row| row.name == name)
}

/// Runs a row in this process and returns it as JSON.
pub fn run_here(spec: &ArrayRow, args: &Args) -> Result<Value, String> {
    let case = spec.case(args)?;
    let folder = args.state.as_deref().ok_or("--row needs --state")?;
    let state = snapshot::load(&case.drive, folder, &case.state_hash(), &mut |_, _| true)
        .map_err(|e| e.to_string())?;
    let m = if case.array.is_some() { run_array(&case, state) } else { run_one(&case, state) }?;
    let n = &m.nand;
    let operations = n.host_reads + n.gc_reads + n.host_programs + n.gc_programs + n.erases;
    Ok(json!({
        "name": spec.name,
        "requests": m.window.counters.requests,
        "flash_operations": operations,
        "cpu_s": m.window_cpu_s,
        "cpu_ns_per_flash_operation": m.window_cpu_s * 1e9 / operations as f64,
    }))
}

fn run_one(case: &Case, state: PreconditionedState) -> Result<Measured, String> {
    let mut stepper = cases::drive(case, state).map_err(|e| e.to_string())?;
    run::run(&mut stepper, &case.run, &mut |_, _| true).map_err(|e| e.to_string())
}

fn run_array(case: &Case, state: PreconditionedState) -> Result<Measured, String> {
    let mut stepper = cases::array(case, state).map_err(|e| e.to_string())?;
    run::run(&mut stepper, &case.run, &mut |_, _| true).map_err(|e| e.to_string())
}

/// The table of finished rows for people: `key` of each, and of the arrays over that of their single drive.
pub fn render(rows: &[Value], key: &str, unit: &str) -> String {
    let mut text =
        format!("| four drives and one | {unit} per flash operation | of one drive |\n|---|---|---|\n");
    for spec in ROWS {
        let of = |name: &str| rows.iter().find(|r| r["name"] == name).and_then(|r| r[key].as_f64());
        let Some(cost) = of(spec.name) else { continue };
        let ratio = spec.than.and_then(of).map_or("".into(), |one| format!("{:.2}", cost / one));
        text.push_str(&format!("| {} | {cost:.0} | {ratio} |\n", spec.name));
    }
    text
}

/// Whether arrays cost no more than they may, by instructions per flash operation of each row.
pub fn check(figures: &Map<String, Value>) -> Result<(), String> {
    for spec in ROWS {
        let of = |name: &str| figures.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let Some(than) = spec.than else { continue };
        let ratio = of(spec.name) / of(than);
        if ratio.is_nan() || ratio > MOST {
            return Err(format!(
                "{}: {ratio:.2} times the instructions per flash operation of {than}; at most {MOST} are allowed",
                spec.name
            ));
        }
    }
    Ok(())
}
