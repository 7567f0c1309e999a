//! Faults of a served drive in its report: wear, failed dies, lost data, power cuts.

use super::pacer::Pacer;
use interpulse_embed::{Duration, PowerCut};
use serde_json::{Value, json};
use std::fmt::Write;

/// What has happened to a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Totals of wear, failures and lost data, as `smart` of a result; `None` where nothing can fail.
    pub smart: Option<Value>,
    /// Power cuts, in order.
    pub cuts: Vec<PowerCut>,
}

impl Faults {
    /// Faults of the device of `pacer` so far.
    pub fn of(pacer: &Pacer) -> Faults {
        Faults { smart: pacer.device.smart(pacer.statistics.refused), cuts: pacer.device.power_cuts() }
    }

    /// The power cuts as JSON; times in ns.
    pub fn cuts_json(&self) -> Value {
        let one = |of: &PowerCut| {
            json!({
                "at_ns": of.at.as_ns(),
                "requests_in_flight": of.requests,
                "acknowledged_units_lost": of.acknowledged_units_lost,
                "mounting_ns": of.mounting.as_ns(),
                "served_ns": of.served.map(|at| at.as_ns()),
            })
        };
        self.cuts.iter().map(one).collect()
    }

    /// Lines about faults for people.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for of in &self.cuts {
            let out = of.served.map_or("and did not recover before the end".into(), |served| {
                let out: Duration = served.since(of.at);
                format!("and served again after {:.3} s", out.as_ns() as f64 / 1e9)
            });
            let lost = match of.acknowledged_units_lost {
                0 => String::new(),
                units => format!(", {units} acknowledged units lost"),
            };
            let _ = writeln!(
                text,
                "power cut at {:.6} s of drive time: {} requests in flight{lost}, {out}",
                of.at.as_ns() as f64 / 1e9,
                of.requests
            );
        }
        for (name, value) in self.smart.iter().flat_map(Value::as_object).flatten() {
            let is_none = value.as_f64() == Some(0.0) || value.as_bool() == Some(false);
            if FAULTS.contains(&name.as_str()) && !is_none {
                let _ = writeln!(text, "{}: {value}", name.replace('_', " "));
            }
        }
        text
    }
}

/// Figures of `smart` that the text shows where they are not zero.
const FAULTS: [&str; 11] = [
    "grown_bad_blocks",
    "program_failures",
    "erase_failures",
    "media_errors",
    "read_only",
    "read_only_since_s",
    "refused_requests",
    "failed_dies",
    "stalls",
    "lost_bytes_at_end",
    "reads_of_lost_data",
];
