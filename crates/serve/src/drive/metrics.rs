//! Metrics: a view as Prometheus text (exposition format 0.0.4).
//!
//! Names and units follow the conventions: base units (seconds, bytes), `_total` for counters, one `HELP` and `TYPE` per name.

use super::view::{Distribution, View};
use super::window::Windows;
use std::fmt::{Display, Write};

/// Quantiles of the summaries, with their labels, by the names of percentiles.
const QUANTILES: [(&str, &str); 4] = [("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99"), ("p99.9", "0.999")];

/// Text under construction.
struct Text(String);

impl Text {
    /// Begins a metric.
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP interpulse_{name} {help}\n# TYPE interpulse_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.0, "interpulse_{name} {value}"),
            _ => writeln!(self.0, "interpulse_{name}{{{labels}}} {value}"),
        };
    }

    /// A metric with one sample.
    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.metric(name, kind, help);
        self.sample(name, "", value);
    }

    /// Quantiles, sum and count of a summary; `recent` has the quantiles, `all` sum and count.
    fn summary(&mut self, name: &str, labels: &str, recent: &Distribution, all: &Distribution) {
        let before = if labels.is_empty() { String::new() } else { format!("{labels},") };
        for (percentile, quantile) in QUANTILES {
            let value = match recent.count {
                0 => "NaN".into(),
                _ => seconds(recent.percentile_ns(percentile).into()).to_string(),
            };
            self.sample(name, &format!("{before}quantile=\"{quantile}\""), value);
        }
        self.sample(&format!("{name}_sum"), labels, seconds(all.sum_ns));
        self.sample(&format!("{name}_count"), labels, all.count);
    }
}

fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

/// A label value as the format quotes it.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The view as Prometheus text.
pub fn prometheus(view: &View) -> String {
    let mut text = Text(String::new());
    session(&mut text, view);
    commands(&mut text, view);
    device(&mut text, view);
    for (group, info, value) in view.counters.iter() {
        let name = format!("{group}_{}_total", info.name);
        text.single(&name, "counter", &format!("{} ({})", quoted(info.doc), info.unit), value);
    }
    text.0
}

fn session(text: &mut Text, view: &View) {
    let session = &view.session;
    text.metric("session_info", "gauge", "Configuration and pace of the served drive.");
    let (hash, pace) = (quoted(&session.config_hash), session.pace);
    text.sample("session_info", &format!("config_hash=\"{hash}\",pace=\"{pace}\""), 1);
    let suspension = &view.suspension;
    text.metric("suspension_info", "gauge", "Suspension schemes of operations that begin now.");
    let labels = format!("program=\"{}\",erase=\"{}\"", suspension.program, suspension.erase);
    text.sample("suspension_info", &labels, 1);
    let help = "Changes of suspension schemes and limits during the session.";
    text.single("suspension_changes_total", "counter", help, suspension.changes.len());
    if let Some(dilation) = session.pace.dilation() {
        text.single("dilation", "gauge", "Wall time over drive time.", dilation);
    }
    text.single("capacity_bytes", "gauge", "Size of the drive.", session.capacity);
    let wall = seconds(view.wall.0.into());
    text.single("wall_seconds_total", "counter", "Wall time since the start of the session.", wall);
    let drive = seconds(view.drive_ns.into());
    text.single("drive_seconds_total", "counter", "Drive time since the first command.", drive);
}

fn commands(text: &mut Text, view: &View) {
    let label = |of: &super::view::ClassView| format!("op=\"{}\"", of.class.name());
    text.metric("commands_total", "counter", "Commands completed without an error.");
    view.classes.iter().for_each(|of| text.sample("commands_total", &label(of), of.commands));
    text.metric("command_errors_total", "counter", "Commands that ended with an error.");
    view.classes.iter().for_each(|of| text.sample("command_errors_total", &label(of), of.errors));
    text.metric("command_bytes_total", "counter", "Bytes of the commands completed without an error.");
    view.classes.iter().for_each(|of| text.sample("command_bytes_total", &label(of), of.bytes));
    let help = format!(
        "Latency in drive time; quantiles of the last {} s of wall time, sum and count since the start.",
        Windows::SECONDS
    );
    text.metric("command_latency_seconds", "summary", &help);
    for of in &view.classes {
        text.summary("command_latency_seconds", &label(of), &of.recent, &of.latency);
    }
    if let Some(slip) = &view.slip {
        let help =
            "Wall time from the instant at which a completion was due to its delivery, since the start.";
        text.metric("slip_seconds", "summary", help);
        text.summary("slip_seconds", "", slip, slip);
    }
    text.single("commands_outstanding", "gauge", "Commands in the drive.", view.outstanding);
    let most = view.most_outstanding;
    text.single(
        "commands_outstanding_max",
        "gauge",
        "Largest number of commands in the drive at once.",
        most,
    );
}

fn device(text: &mut Text, view: &View) {
    let now = &view.activity;
    for (name, help, value) in [
        ("dies", "Dies.", now.dies),
        ("dies_busy", "Dies that are not idle.", now.busy_dies),
        ("dies_suspended", "Dies with a suspended program or erase.", now.suspended_dies),
        ("lanes", "Groups of planes with free blocks of their own.", now.lanes),
        ("lanes_collecting", "Lanes below the threshold of garbage collection.", now.collecting_lanes),
        ("write_cache_units", "Units in the write cache that flash does not hold yet.", now.cached_units),
    ] {
        text.single(name, "gauge", help, value);
    }
    if let Some(factor) = view.write_amplification() {
        let help = "Units programmed per unit that the host wrote, since the start.";
        text.single("write_amplification_ratio", "gauge", help, factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted() {
        assert_eq!(quoted("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    }
}
