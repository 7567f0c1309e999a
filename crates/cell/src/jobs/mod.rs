//! What `interpulse characterize` asks for, in pieces of about a second: JSON in, JSON out.
//!
//! A piece is a pure function of its request, so pieces can run on any number of cores, be stored, and be asked for again.

mod endurance;
mod erase;
mod kinds;
mod part;
mod reprogram;
mod retention;
mod suspend;
mod table;

use crate::tester::Tester;
use interpulse_flash::suspend::Scheme;
use interpulse_settings::{ConfigError, Document};
pub use kinds::run;
use std::fmt;
use std::ops::RangeInclusive;

/// Declares a request about cells that a preset and overrides say. A field may have a range, which is checked where the
/// request is read.
macro_rules! request {
    ($(#[$meta:meta])* struct $name:ident {$(
        $(#[$of:meta])* $field:ident: $type:ty $(= $range:expr)?
    ),* $(,)?}) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            /// Selects the cells, their data and their noise; every piece is given one.
            #[allow(dead_code, reason = "in some nothing depends on it")]
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
                $($($crate::jobs::within(stringify!($field), request.$field, $range)?;)?)*
                Ok(request)
            }
        }
    };
}
use request;

/// Why a piece could not be done; always the asker's mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(pub String);

impl From<ConfigError> for JobError {
    fn from(error: ConfigError) -> JobError {
        JobError(error.to_string())
    }
}

request! {
    /// Which cells, for pieces that ask nothing else.
    struct Which {}
}

/// Keys of parts that cells decide themselves.
const OWN: [(&str, &str); 3] = [
    ("part.program-loops", "cell.ispp"),
    ("part.program-loops-sd", "cell.ispp.word-line-sd"),
    ("part.erase-loops", "cell.erase"),
];

/// Overrides as `--set` gives them. Fails on those that could have no effect, as on unknown ones.
fn overrides(sets: &[(String, String)]) -> Result<Document, ConfigError> {
    for (key, _) in sets {
        if let Some((key, instead)) = OWN.iter().find(|(own, _)| own == key) {
            let why = format!(
                "it has no effect on the bench, where cells decide how many loops they take: see {instead}"
            );
            let section = Document::set(key, "1")?.section("part")?;
            section.refuse(key.trim_start_matches("part."), why)?;
        }
    }
    layers(sets)
}

/// The scheme called `name`, with keys of its own as `--set` gives them.
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
fn within<T: PartialOrd + fmt::Display>(
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
