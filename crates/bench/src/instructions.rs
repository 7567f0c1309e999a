//! Instructions per request: a figure that does not mind a noisy machine.
//!
//! Each row runs twice under callgrind on the miniature drive, with N and 3 N requests; the difference over
//! 2 N is the cost of a request without set-up. For cells it is the cost of a word line, for arrays that of a flash
//! operation.

use crate::row::{self, ROWS};
use crate::{arrays, cells};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

const REQUESTS: u64 = 20_000;
const WORD_LINES: u64 = 2;
/// Growth over the recorded figure that fails.
const TOLERANCE: f64 = 1.05;

/// Measures all rows, prints them as JSON, and compares them with the recorded ones.
pub fn measure(against: Option<&Path>, json: bool) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    row::prepare(folder.path(), true)?;
    let mut figures = Map::new();
    let requests = ROWS.iter().map(|spec| (spec.name, REQUESTS, "request"));
    for (name, n, of) in requests.chain([(cells::NAME, WORD_LINES, "word line")]) {
        let (few, _) = count(name, folder.path(), n)?;
        let (many, _) = count(name, folder.path(), 3 * n)?;
        let each = (many - few) / (2 * n);
        if !json {
            println!("{name:24} {each} instructions per {of}");
        }
        figures.insert(name.into(), json!(each));
    }
    arrays::prepare(folder.path(), true)?;
    let mut rows = Vec::new();
    for name in arrays::ROWS.iter().map(|spec| spec.name) {
        let (few, before) = count(name, folder.path(), REQUESTS)?;
        let (many, after) = count(name, folder.path(), 3 * REQUESTS)?;
        let operations = |row: &Value| row["flash_operations"].as_u64().unwrap_or(0);
        let each = (many - few) / (operations(&after) - operations(&before)).max(1);
        figures.insert(name.into(), json!(each));
        rows.push(json!({ "name": name, "instructions": each }));
    }
    if !json {
        println!("\n{}", arrays::render(&rows, "instructions", "instructions"));
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&figures).expect("numbers and names"));
    }
    let Some(path) = against else { return Ok(()) };
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let recorded: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    for (name, now) in &figures {
        let (now, then) = (now.as_f64().unwrap_or(0.0), recorded[name].as_f64().unwrap_or(0.0));
        if now > then * TOLERANCE {
            return Err(format!(
                "{name}: {now} instructions, {then} are recorded in {}; if the growth has a reason, say \
                 so in the changelog and record the new figure",
                path.display()
            ));
        }
    }
    arrays::check(&figures)
}

/// Instructions of a whole run of a row, and the row.
fn count(name: &str, state: &Path, requests: u64) -> Result<(u64, Value), String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let log = state.join("callgrind.log");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", log.display()))
        .arg(program)
        .args(["--quick", "--row", name, "--requests", &requests.to_string(), "--state"])
        .arg(state)
        .output()
        .map_err(|e| format!("valgrind cannot be run ({e}); install it to count instructions"))?;
    if !output.status.success() {
        return Err(format!("{name} failed under valgrind: {}", output.status));
    }
    let row =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("row {name} printed no JSON: {e}"))?;
    let text = std::fs::read_to_string(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let line =
        text.lines().find(|l| l.contains("Collected")).ok_or("valgrind did not say what it collected")?;
    let number = line.rsplit(':').next().unwrap_or("").trim();
    let instructions = number.parse().map_err(|_| format!("valgrind collected {number:?}"))?;
    Ok((instructions, row))
}
