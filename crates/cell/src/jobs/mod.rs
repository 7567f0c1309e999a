//! Jobs of `interpulse characterize`: pure functions from a JSON request to a JSON result, of about a second each, so that
//! their results can be computed in parallel and stored.

mod dispatch;
mod endurance;
mod erase;
mod part;
mod reprogram;
mod retention;
mod suspend;
mod table;

use crate::tester::Tester;
pub use dispatch::run;
use interpulse_flash::suspend::Scheme;
use interpulse_settings::{ConfigError, Document};
use std::fmt;
use std::ops::RangeInclusive;

/// Declares a request on the cells of a preset with overrides. Ranges of fields are checked by `read`.
macro_rules! request {
    ($(#[$meta:meta])* struct $name:ident {$(
        $(#[$of:meta])* $field:ident: $type:ty $(= $range:expr)?
    ),* $(,)?}) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            /// Random seed of cells, data and noise.
            #[allow(dead_code, reason = "some jobs are not random")]
            seed: u64,
            /// Cell or chip preset.
            preset: String,
            /// Overrides of `[cell]` and `[part]`.
            #[serde(default)]
            set: Vec<(String, String)>,
            $($(#[$of])* $field: $type),*
        }

        impl $name {
            /// Reads a request of this kind.
            fn read(kind: &str, request: &serde_json::Value) -> Result<$name, $crate::jobs::JobError> {
                let request = <$name as serde::Deserialize>::deserialize(request)
                    .map_err(|error| $crate::jobs::JobError(format!("{kind}: {error}")))?;
                $($($crate::jobs::check_range(stringify!($field), request.$field, $range)?;)?)*
                Ok(request)
            }
        }
    };
}
use request;

/// Error of an invalid request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(pub String);

impl From<ConfigError> for JobError {
    fn from(error: ConfigError) -> JobError {
        JobError(error.to_string())
    }
}

request! {
    /// A request without further fields.
    struct PresetRequest {}
}

/// Keys of parts that the cell model replaces, and the replacement.
const CELL_DERIVED: [(&str, &str); 3] = [
    ("part.program-loops", "cell.ispp"),
    ("part.program-loops-sd", "cell.ispp.word-line-sd"),
    ("part.erase-loops", "cell.erase"),
];

/// Overrides by `--set`. Fails on unknown keys and on keys without effect.
fn overrides(sets: &[(String, String)]) -> Result<Document, ConfigError> {
    for (key, _) in sets {
        if let Some((key, instead)) = CELL_DERIVED.iter().find(|(own, _)| own == key) {
            let why = format!(
                "it has no effect here, because the cell model decides the number of loops; set {instead}"
            );
            let section = Document::set(key, "1")?.section("part")?;
            section.refuse(key.trim_start_matches("part."), why)?;
        }
    }
    layers(sets)
}

/// The scheme `name` with its keys.
fn scheme(name: &str, keys: &[(String, String)]) -> Result<Scheme, JobError> {
    let row = ConfigError::named("scheme", name, Scheme::ROWS.iter().map(|row| (row.name, row)))?;
    let document = layers(keys)?;
    let scheme = (row.read)(&mut document.top())?;
    document.finish()?;
    Ok(scheme)
}

fn layers(sets: &[(String, String)]) -> Result<Document, ConfigError> {
    sets.iter().try_fold(Document::empty(), |lower, (key, value)| Document::set(key, value)?.over(lower))
}

/// The tester of a request.
fn tester(preset: &str, sets: &[(String, String)], program: &str, erase: &str) -> Result<Tester, JobError> {
    tester_of(preset, sets, scheme(program, &[])?, scheme(erase, &[])?)
}

fn tester_of(
    preset: &str,
    sets: &[(String, String)],
    program: Scheme,
    erase: Scheme,
) -> Result<Tester, JobError> {
    Ok(Tester::resolve(preset, overrides(sets)?, program, erase)?)
}

/// A number of a request between two bounds.
fn check_range<T: PartialOrd + fmt::Display>(
    name: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<T, JobError> {
    match range.into_inner() {
        (from, to) if value < from || to < value => {
            Err(JobError(format!("{name} = {value}: from {from} to {to}")))
        }
        _ => Ok(value),
    }
}
