//! Report of a session: JSON and text.

use super::class::Class;
use super::clock::Pace;
use super::faults::Faults;
use super::record::Recorded;
use super::suspension::SuspensionView;
use super::view::{ClassView, Distribution, PERCENTILES, View};
use interpulse_embed::{AuditReport, Duration};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Shares of a latency that the slip at the same percentile may have: those within which a client's figures, divided by the
/// dilation, agree with the simulation.
const LEGAL_SLIP: [(&str, f64); 2] = [("p50", 0.03), ("p99.9", 0.05)];

/// A finished session.
#[derive(Clone, Debug)]
pub struct Report {
    /// The drive at the end.
    pub view: View,
    /// Rows of the record, if one was written.
    pub recorded: Option<u64>,
    /// What a user has to know.
    pub warnings: Vec<String>,
    /// Checks of the device at the end.
    pub audit: AuditReport,
    /// Faults and power cuts.
    pub faults: Faults,
}

impl Report {
    /// Report of a session that ends with `view`; `recorded` is its record if one was written, `punctual` says whether the
    /// thread of the drive has real-time priority.
    pub fn new(view: View, recorded: Option<Recorded>, audit: AuditReport, punctual: bool) -> Report {
        let (recorded, notes) = recorded.map_or((None, Vec::new()), |of| (Some(of.rows), of.notes));
        let mut warnings = slip_warnings(&view);
        if !punctual && !warnings.is_empty() {
            warnings.push(
                "the system refuses real-time priority to the drive, with which the slip is smaller; CAP_SYS_NICE or a limit \
                 rtprio of 1 admits it"
                    .into(),
            );
        }
        warnings.extend(notes);
        Report { view, recorded, warnings, audit, faults: Faults::default() }
    }

    /// Commands of a class.
    pub fn class(&self, class: Class) -> &ClassView {
        &self.view.classes[class as usize]
    }

    /// The report as JSON; times in ns.
    pub fn to_json(&self) -> Value {
        let view = &self.view;
        let session = &view.session;
        let mut operations = Map::new();
        for of in view.classes.iter().filter(|of| of.latency.count > 0) {
            operations.insert(of.class.name().into(), operation_json(of));
        }
        let counters: Value = serde_json::from_str(&view.counters.to_json()).expect("counters are JSON");
        json!({
            "config_hash": session.config_hash,
            "version": env!("CARGO_PKG_VERSION"),
            "pace": session.pace.to_string(),
            "dilation": session.pace.dilation(),
            "capacity": session.capacity,
            "wall_ns": view.wall.0,
            "drive_ns": view.drive_ns,
            "operations": operations,
            "most_outstanding": view.most_outstanding,
            "slip": view.slip.as_ref().map(|slip| slip_json(slip, session.pace)),
            "slowest": view.slowest.iter().map(|slow| json!({
                "operation": slow.class.name(),
                "at_ns": slow.submitted.as_ns(),
                "offset": slow.offset,
                "length": slow.length,
                "latency_ns": slow.latency.as_ns(),
                "cause": slow.cause,
            })).collect::<Vec<_>>(),
            "write_amplification": view.write_amplification(),
            "suspension": suspension_json(&view.suspension),
            "recorded": self.recorded,
            "smart": self.faults.smart,
            "power_cuts": self.faults.cuts_json(),
            "audited": { "requests": self.audit.requests, "mapped_units": self.audit.mapped_units },
            "warnings": self.warnings,
            "notes": session.notes,
            "counters": counters,
        })
    }

    /// The report as text.
    pub fn to_text(&self) -> String {
        let (mut text, view) = (String::new(), &self.view);
        let session = &view.session;
        let (drive, wall) = (view.drive_ns as f64 / 1e9, view.wall.0 as f64 / 1e9);
        let pace = match session.pace {
            Pace::Max => "pace max".into(),
            Pace::Dilated(1) => "real time".into(),
            Pace::Dilated(dilation) => format!("{dilation} times slower than life"),
        };
        let _ = writeln!(
            text,
            "drive {}, {pace}: {drive:.3} s of drive time in {wall:.3} s",
            session.config_hash
        );
        for line in &self.warnings {
            let _ = writeln!(text, "warning: {line}");
        }
        let names = PERCENTILES.map(|(_, name)| format!("{name:>10}")).concat();
        let _ = writeln!(text, "latency in drive time  {:>10}{:>10}{names}{:>10}", "commands", "mean", "max");
        for of in view.classes.iter().filter(|of| of.latency.count > 0) {
            let _ = writeln!(text, "  {:<20} {}", of.class.name(), row(&of.latency, 1));
            if of.errors > 0 {
                let _ = writeln!(text, "  {} of them ended with an error", of.errors);
            }
        }
        if let (Some(slip), Some(dilation)) = (&view.slip, session.pace.dilation()) {
            let _ = writeln!(text, "  {:<20} {}", "slip", row(slip, dilation));
            let _ = writeln!(text, "  {:<20} {}", "slip in wall time", row(slip, 1));
        }
        if let Some(factor) = view.write_amplification() {
            let _ = writeln!(text, "write amplification {factor:.3}");
        }
        text += &self.faults.to_text();
        for change in &view.suspension.changes {
            let settings: Vec<_> =
                change.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let _ = writeln!(
                text,
                "suspension changed at {:.9} s of drive time: {} (program {}, erase {})",
                change.at.as_secs_f64(),
                settings.join(", "),
                change.program,
                change.erase
            );
        }
        if let Some(rows) = self.recorded {
            let _ = writeln!(text, "{rows} commands recorded");
        }
        for line in &session.notes {
            let _ = writeln!(text, "note: {line}");
        }
        text
    }
}

/// The last schemes, and the changes with their drive times; `config_hash` is that of the configuration before them.
fn suspension_json(of: &SuspensionView) -> Value {
    let changes = of.changes.iter().map(|change| {
        let settings: Map<String, Value> =
            change.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        json!({
            "at_ns": change.at.as_ns(),
            "settings": settings,
            "program": change.program,
            "erase": change.erase,
        })
    });
    json!({ "program": of.program, "erase": of.erase, "changes": changes.collect::<Vec<_>>() })
}

fn distribution_json(of: &Distribution, divisor: f64) -> Map<String, Value> {
    let mut json = Map::new();
    json.insert("count".into(), json!(of.count));
    json.insert("mean".into(), json!(of.mean_ns() / divisor));
    json.insert("min".into(), json!(of.min_ns as f64 / divisor));
    for ((_, name), ns) in PERCENTILES.iter().zip(of.percentiles_ns) {
        json.insert((*name).into(), json!(ns as f64 / divisor));
    }
    json.insert("max".into(), json!(of.max_ns as f64 / divisor));
    json
}

fn operation_json(of: &ClassView) -> Value {
    json!({
        "commands": of.commands,
        "errors": of.errors,
        "bytes": of.bytes,
        "latency_ns": distribution_json(&of.latency, 1.0),
    })
}

/// Slip in wall time, and in drive time, in which the dilation divides it.
fn slip_json(slip: &Distribution, pace: Pace) -> Value {
    let dilation = f64::from(pace.dilation().unwrap_or(1));
    json!({ "wall_ns": distribution_json(slip, 1.0), "drive_ns": distribution_json(slip, dilation) })
}

fn row(of: &Distribution, divisor: u32) -> String {
    let time = |ns: f64| format!("{:>10}", Duration((ns / f64::from(divisor)).round() as u64).short());
    let percentiles: String = of.percentiles_ns.iter().map(|&ns| time(ns as f64)).collect();
    format!("{:>11}{}{percentiles}{}", of.count, time(of.mean_ns()), time(of.max_ns as f64))
}

/// Four significant digits of a time.
trait Short {
    fn short(self) -> String;
}

impl Short for Duration {
    fn short(self) -> String {
        let us = self.as_us_f64();
        match us {
            _ if us < 1_000.0 => format!("{us:.1}us"),
            _ if us < 1_000_000.0 => format!("{:.2}ms", us / 1e3),
            _ => format!("{:.2}s", us / 1e6),
        }
    }
}

/// Says where the slip is too large a share of the latency, and at which pace it would not be.
fn slip_warnings(view: &View) -> Vec<String> {
    let (Some(slip), Some(dilation)) = (&view.slip, view.session.pace.dilation()) else { return Vec::new() };
    let mut warnings = Vec::new();
    for (name, share) in LEGAL_SLIP {
        let (slip, latency) = (slip.percentile_ns(name) as f64, view.all.percentile_ns(name) as f64);
        if latency == 0.0 || slip / f64::from(dilation) <= share * latency {
            continue;
        }
        let enough = (slip / (share * latency)).ceil();
        warnings.push(format!(
            "the {name} of the slip, {}, exceeds {} % of the {name} of the latency, {}, in drive time: use --pace {enough}",
            Duration((slip / f64::from(dilation)) as u64).short(),
            share * 100.0,
            Duration(latency as u64).short(),
        ));
    }
    warnings
}
