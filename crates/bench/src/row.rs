//! Rows of single drives: load, configuration and validity checks.

use interpulse_drive::FtlState;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::initial_state::{precondition as preconditioning, snapshot};
use interpulse_study::run::warm_up::Warmup;
use interpulse_study::{case as cases, run};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// The drive of the program suspend study, limited by its channels. Garbage collection keeps 2 % of the spare blocks
/// free, which gives the printed write amplification of 2.4 (its 10 % gives 2.5).
const CONFIG: &str = r#"
drive = "a4"
[ftl]
gc-soft = "2%"
[precondition]
overwrite = "uniform"
[run]
warmup = "100ms"
[[flow]]
"#;
const QUICK: &str = r#"
drive = "a4-mini"
[precondition]
overwrite = "uniform"
[[flow]]
"#;

/// Row of the benchmark.
pub struct RowSpec {
    /// Name.
    pub name: &'static str,
    read: &'static str,
    suspend: bool,
    /// Arrivals per second of an open load on the full drive; `None` for queue depth 64.
    open: Option<u64>,
    requests: u64,
    /// Seconds per round: restore, warm-up, measurement.
    pub round_s: f64,
    /// Warm-up; writes need a long one because garbage collection starts without pending work.
    warmup: &'static str,
    /// Valid range of write amplification.
    waf: Option<(f64, f64)>,
}

/// Rows in order.
pub const ROWS: &[RowSpec] = &[
    RowSpec {
        name: "randread-qd64",
        read: "100%",
        suspend: false,
        open: None,
        requests: 20_000_000,
        round_s: 18.0,
        warmup: "100ms",
        waf: None,
    },
    RowSpec {
        name: "mixed-suspend-qd64",
        read: "75%",
        suspend: true,
        open: None,
        requests: 12_000_000,
        round_s: 16.0,
        warmup: "100ms",
        waf: None,
    },
    RowSpec {
        name: "randwrite-steady",
        read: "0%",
        suspend: false,
        open: None,
        requests: 12_000_000,
        round_s: 20.0,
        warmup: "10s",
        waf: Some((2.3, 2.5)),
    },
    RowSpec { name: "open-none", suspend: false, ..OPEN },
    RowSpec { name: "open-suspend", suspend: true, ..OPEN },
];

/// The same arrivals without and with suspension: the cost of suspension.
const OPEN: RowSpec = RowSpec {
    name: "",
    read: "75%",
    suspend: false,
    open: Some(120_000),
    requests: 12_000_000,
    round_s: 15.5,
    warmup: "100ms",
    waf: None,
};

/// Size of the full drive relative to the miniature.
const FULL_OVER_QUICK: u64 = 16;

/// Fewest requests of a measurement.
const LEAST_REQUESTS: u64 = 10_000_000;

impl RowSpec {
    /// Checks that a row is valid.
    pub fn check(&self, row: &Value) -> Result<(), String> {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        if number("requests") < LEAST_REQUESTS as f64 {
            return Err(format!(
                "{}: {} requests are fewer than {LEAST_REQUESTS}",
                self.name,
                number("requests")
            ));
        }
        if self.read == "100%" && (number("programs") > 0.0 || number("erases") > 0.0) {
            return Err(format!("{}: a read-only row programmed or erased", self.name));
        }
        if let Some((low, high)) = self.waf
            && !(low..=high).contains(&number("waf"))
        {
            return Err(format!(
                "{}: write amplification {} is not within {low} to {high}",
                self.name,
                number("waf")
            ));
        }
        Ok(())
    }

    /// Configuration, with `requests` instead of the default number.
    pub fn case(&self, quick: bool, requests: Option<u64>) -> Result<Case, String> {
        let mut sets = vec![("flow.0.read".to_string(), format!("\"{}\"", self.read))];
        if self.suspend {
            sets.push(("suspend.program.scheme".into(), "loop-boundary".into()));
            sets.push(("suspend.program.max-suspends".into(), "10".into()));
        }
        if let Some(rate) = self.open {
            let rate = if quick { rate / FULL_OVER_QUICK } else { rate };
            sets.push(("flow.0.pacing".into(), "open".into()));
            sets.push(("flow.0.arrivals".into(), "poisson".into()));
            sets.push(("flow.0.rate".into(), format!("\"{rate}IOPS\"")));
        } else {
            sets.push(("flow.0.depth".into(), if quick { "8" } else { "64" }.into()));
        }
        let n = requests.unwrap_or(if quick { self.requests / 200 } else { self.requests });
        sets.push(("run.requests".into(), n.to_string()));
        if !quick {
            sets.push(("run.warmup".into(), format!("\"{}\"", self.warmup)));
        }
        case(quick, sets)
    }
}

/// The case of a row with these settings.
pub fn case(quick: bool, sets: Vec<(String, String)>) -> Result<Case, String> {
    let text = if quick { QUICK } else { CONFIG }.to_string();
    let request = PlanRequest { text, path: "benchmark".into(), sets, ..PlanRequest::default() };
    Ok(read_cases(&request).map_err(|e| e.to_string())?.remove(0))
}

/// Seconds to precondition and store the full drive.
pub const PREPARE_S: f64 = 52.0;

/// Preconditions the drive of `case` and stores its state in `folder`.
pub fn precondition(case: &Case, folder: &Path) -> Result<Value, String> {
    let start = Instant::now();
    let (state, outcome) = preconditioning::precondition(&case.drive, &case.precondition, &mut |_, _| true)
        .ok_or("preconditioning was stopped")?;
    let precondition_s = start.elapsed().as_secs_f64();
    if outcome.gave_up {
        return Err(format!("preconditioning did not become steady: {:?}", outcome.quarters));
    }
    let bytes =
        snapshot::save(&state, folder, &case.state_hash(), &mut |_, _| true).map_err(|e| e.to_string())?;
    Ok(json!({ "precondition_s": precondition_s, "bytes": bytes }))
}

/// Runs a row in this process and returns it as JSON.
pub fn run(name: &str, case: &Case, folder: &Path) -> Result<Value, String> {
    let before = memory_bytes("VmRSS:")?;
    let start = Instant::now();
    let state = snapshot::load(&case.drive, folder, &case.state_hash(), &mut |_, _| true)
        .map_err(|e| e.to_string())?;
    let restore_s = start.elapsed().as_secs_f64();
    let units = state.logical_units();
    let mut stepper = cases::drive(case, &case.flows, state).map_err(|e| e.to_string())?;
    let m = run::run(&mut stepper, &case.run, &Warmup::of(case, &[]), &mut |_, _, _| true)
        .map_err(|e| e.to_string())?;
    // Memory of the drive only: the process may include an interpreter.
    let peak = memory_bytes("VmHWM:")? - before;
    Ok(json!({
        "name": name,
        "cpu_s": m.window_cpu_s,
        "requests_per_cpu_s": m.window.counters.requests as f64 / m.window_cpu_s,
        "requests": m.window.counters.requests,
        "programs": m.nand.programs(),
        "erases": m.nand.erases,
        "suspends": m.nand.program_suspends,
        "bytes_per_4k": peak as f64 / f64::from(units),
        "restore_s": restore_s,
        "peak_rss_mb": peak as f64 / 1e6,
        "waf": m.ftl.write_amplification().unwrap_or(0.0),
    }))
}

/// Resident memory of this process: `VmRSS:` current, `VmHWM:` peak.
fn memory_bytes(key: &str) -> Result<u64, String> {
    let status =
        std::fs::read_to_string("/proc/self/status").map_err(|e| format!("/proc/self/status: {e}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| format!("/proc/self/status has no {key}"))
}
