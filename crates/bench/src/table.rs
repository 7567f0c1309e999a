//! The table for people.

use serde_json::Value;

/// Renders the rows as a Markdown table.
pub fn render(rows: &[Value]) -> String {
    let mut text = String::from(
        "| workload | million requests / CPU s | requests | programs | WAF | bytes / 4 KiB | peak MB | precondition s \
         | restore s |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in rows {
        let f = |key: &str| r[key].as_f64().unwrap_or(0.0);
        text.push_str(&format!(
            "| {} | {:.2} | {} | {} | {:.2} | {:.2} | {:.0} | {:.1} | {:.1} |\n",
            r["name"].as_str().unwrap_or(""),
            f("requests_per_cpu_s") / 1e6,
            f("requests"),
            f("programs"),
            f("waf"),
            f("bytes_per_4k"),
            f("peak_rss_mb"),
            f("precondition_s"),
            f("restore_s"),
        ));
    }
    text
}
