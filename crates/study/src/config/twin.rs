//! Twin flows: statistical twins of traces.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Origin, Section, default, optional};
use interpulse_workload::twin::read::row_in_file;
use interpulse_workload::twin::rows;
use interpulse_workload::{BurstSpec, Fit, TWINS, TracePacing, TwinRow, TwinSpec, UpdateShape};
use std::path::Path;

/// Reads a twin, scaled to `requests` if given; a row path in the configuration file is relative to `folder`.
pub(super) fn read(s: &mut Section, requests: Option<u64>, folder: &Path) -> Result<TwinSpec, ConfigError> {
    let doc = "statistical twin of a trace: a row of `interpulse list twins`, or a file with one";
    let mut row = s.reference("twin", doc, None, TWINS, |section, text, origin| {
        let row = if !is_file_name(text) {
            if !TWINS.iter().any(|&(name, _)| name == text) {
                let names: Vec<&str> = TWINS.iter().map(|&(name, _)| name).collect();
                return Err(section.invalid("twin", format!("one of {}, or FILE.toml", names.join(", "))));
            }
            rows::row(text, requests)?
        } else {
            let beside = if matches!(origin, Origin::File { .. }) { folder } else { Path::new("") };
            let found = row_in_file(&beside.join(text), requests);
            found.map_err(|error| error.of_key(section, "twin", "a file with a row"))?
        };
        let canonical = format!("{:?}", TwinRow { name: String::new(), ..row.clone() });
        Ok((row, canonical))
    })?;
    row.update_shape = s.choice(
        "update-shape",
        "how a twin's updates are spread to fall on the busiest fifth as its row says",
        Some("fifth"),
        UpdateShape::ALL,
    )?;
    let (pacing, fit) = (TracePacing::read(s)?, Fit::read(s)?);
    let doc = "writes of the same addresses that come close together; left out, each comes at any time";
    let writes = s.optional_u32("update-burst", doc, optional().within(2..=1_000_000))?;
    let window = s.when(writes.is_some(), "update-burst", |s| {
        let doc = "the writes of a burst fall within about this time";
        s.duration("update-window", doc, default(Duration::from_ms(1_800_000)).positive())
    })?;
    let timed = writes.is_none() || matches!(pacing, TracePacing::Recorded { .. });
    s.check_together(timed, &["update-burst", "pacing"], "a closed loop has no time to be close in")?;
    let bursts = writes.zip(window).map(|(writes, window)| BurstSpec { writes, window });
    Ok(TwinSpec { row, bursts, pacing, fit })
}

/// Whether a twin is a file; no built-in row ends so.
pub(crate) fn is_file_name(name: &str) -> bool {
    name.ends_with(".toml")
}
