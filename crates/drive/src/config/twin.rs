//! Reads a flow that is the statistical twin of a trace.

use super::flow::{SYNTHETIC_KEYS, read_replay};
use interpulse_settings::{ConfigError, Origin, Section};
use interpulse_workload::twin::read::{RowFileError, row_in_file};
use interpulse_workload::twin::rows;
use interpulse_workload::{TWINS, TwinRow, TwinSpec};
use std::path::Path;

/// Reads the twin of a flow, of `requests` requests if given; a row's file lies in `folder` if the
/// configuration file names it.
pub(super) fn read(s: &mut Section, requests: Option<u64>, folder: &Path) -> Result<TwinSpec, ConfigError> {
    for key in SYNTHETIC_KEYS {
        s.refuse(key, "the twin's row says it")?;
    }
    for key in ["trace", "format", "reorder", "skip-bad-rows", "time-unit", "writes-are"] {
        s.refuse(key, "it belongs to a flow that replays a `trace`")?;
    }
    let doc = "statistical twin of a trace: a row of `interpulse list twins`, or a file with one";
    let row = s.reference("twin", doc, None, |section, text, origin| {
        let row = if !is_file_name(text) {
            if !TWINS.iter().any(|&(name, _)| name == text) {
                let names: Vec<&str> = TWINS.iter().map(|&(name, _)| name).collect();
                return Err(section.invalid("twin", format!("one of {}, or FILE.toml", names.join(", "))));
            }
            rows::row(text, requests)?
        } else {
            let beside = if matches!(origin, Origin::File { .. }) { folder } else { Path::new("") };
            row_in_file(&beside.join(text), requests).map_err(|error| match error {
                RowFileError::Content(error) => error,
                RowFileError::Unreadable(why) => section.invalid("twin", format!("a file with a row; {why}")),
            })?
        };
        let canonical = format!("{:?}", TwinRow { name: String::new(), ..row.clone() });
        Ok((row, canonical))
    })?;
    let (pacing, fit) = read_replay(s)?;
    Ok(TwinSpec { row, pacing, fit })
}

/// Whether a twin's name means a file: no built-in row ends so.
pub(crate) fn is_file_name(name: &str) -> bool {
    name.ends_with(".toml")
}
