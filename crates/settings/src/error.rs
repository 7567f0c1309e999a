//! Configuration error: the place, the value seen, and the expected values.

use crate::origin::{Origin, Place};
use crate::resolution::Resolution;
use crate::value::{plain, quoted};
use std::fmt;

/// What kind of mistake a [`ConfigError`] reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A value that cannot be used.
    Value,
    /// A required key that is not there.
    MissingKey,
    /// Several of them.
    MissingKeys,
    /// An unread key or section.
    Unknown,
    /// A key that has no meaning beside the others.
    NotApplicable,
    /// Keys that contradict each other.
    Conflict,
    /// Text that is not TOML.
    Syntax,
}

/// A mistake in a configuration, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError(Box<Report>);

/// A required key that is not there, as it will be reported.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub place: Place,
    pub key: String,
    pub expected: String,
    pub doc: &'static str,
    pub typical: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Report {
    problem: Problem,
    file: Option<String>,
    line: Option<u32>,
    key: String,
    seen: String,
    expected: String,
    hint: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(
        problem: Problem,
        place: Place,
        key: impl Into<String>,
        seen: impl Into<String>,
        expected: impl Into<String>,
    ) -> ConfigError {
        ConfigError(Box::new(Report {
            problem,
            file: place.file,
            line: place.line,
            key: key.into(),
            seen: seen.into(),
            expected: expected.into(),
            hint: None,
        }))
    }

    pub(crate) fn hinting(mut self, hint: Option<String>) -> ConfigError {
        self.0.hint = hint;
        self
    }

    /// Keys that contradict each other; `keys` are full paths, `message` says why.
    ///
    /// The error points at the first of them that the user wrote, else at the first that a preset states.
    pub fn conflict(resolution: &Resolution, keys: &[&str], message: impl Into<String>) -> ConfigError {
        let entries: Vec<_> = keys.iter().filter_map(|key| resolution.entry(key)).collect();
        let culprit = entries
            .iter()
            .find(|entry| entry.origin.is_users())
            .or_else(|| entries.iter().find(|entry| entry.origin != Origin::Default));
        let place = culprit.map(|entry| entry.origin.place()).unwrap_or_default();
        let named: Vec<String> = keys
            .iter()
            .map(|key| match resolution.entry(key) {
                Some(entry) => format!("{key} = {}", entry.display),
                None => key.to_string(),
            })
            .collect();
        let seen = entries.iter().map(|entry| entry.display.as_str()).collect::<Vec<_>>().join(", ");
        ConfigError::new(Problem::Conflict, place, named.join(" and "), seen, message)
    }

    /// All of `missing` in one error, one line each; `None` for none.
    pub(crate) fn all_missing(mut missing: Vec<Missing>) -> Option<ConfigError> {
        if missing.len() < 2 {
            let Missing { place, key, expected, doc, typical } = missing.pop()?;
            let hint = typical.map(|typical| format!("{doc}; typically {typical}"));
            return Some(ConfigError::new(Problem::MissingKey, place, key, "", expected).hinting(hint));
        }
        let mut place = missing[0].place.clone();
        place.line = place.line.filter(|_| missing.iter().all(|m| m.place.line == place.line));
        let line = |m: &Missing| {
            let typical =
                m.typical.as_ref().map(|typical| format!(" (typically {typical})")).unwrap_or_default();
            format!("\n  {}: {}; expected {}{typical}", m.key, m.doc, m.expected)
        };
        let lines: String = missing.iter().map(line).collect();
        let seen = format!("{} keys", missing.len());
        Some(ConfigError::new(Problem::MissingKeys, place, "", seen, lines))
    }

    /// The one of `all` that is called `name`, or an error that lists their names. What says the name is no document, but
    /// such as a function's argument.
    pub fn named<'a, T>(
        key: &str,
        name: &str,
        all: impl Iterator<Item = (&'a str, T)> + Clone,
    ) -> Result<T, ConfigError> {
        let names = || all.clone().map(|(name, _)| name);
        let error = || {
            ConfigError::new(Problem::Value, Place::default(), key, quoted(name), one_of(names()))
                .hinting(did_you_mean(name, names()))
        };
        all.clone().find(|(known, _)| *known == name).map(|(_, found)| found).ok_or_else(error)
    }

    /// What kind of mistake this is.
    pub fn problem(&self) -> Problem {
        self.0.problem
    }

    /// The file, preset or `--set` that holds the mistake; `None` when only defaults are to blame.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Line in that file, counted from 1.
    pub fn line(&self) -> Option<u32> {
        self.0.line
    }

    /// Full path of the key (of a conflict: all keys with their values); empty for a syntax error.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// What was seen; empty where nothing was.
    pub fn seen(&self) -> &str {
        &self.0.seen
    }

    /// What was expected (of a conflict: why the keys contradict each other).
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What the user may have meant.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { problem, file, line, key, seen, expected, hint } = &*self.0;
        match (file.as_deref().map(plain), line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => {}
        }
        if !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        match problem {
            Problem::Value | Problem::Syntax => write!(f, "seen {seen}; expected {expected}")?,
            Problem::MissingKey => write!(f, "missing key; expected {expected}")?,
            Problem::MissingKeys => write!(f, "{seen} are missing:{expected}")?,
            Problem::Unknown => write!(f, "unknown {seen}; expected {expected}")?,
            Problem::NotApplicable => write!(f, "does not apply; {expected}")?,
            Problem::Conflict => f.write_str(expected)?,
        }
        match hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// "did you mean X?" if one of `names` is close to `seen`.
pub(crate) fn did_you_mean<'a>(seen: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(seen, names).map(|name| format!("did you mean \"{name}\"?"))
}

/// The one of `names` that is closest to `seen`, if it is close.
pub(crate) fn nearest<'a>(seen: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Edit distance is quadratic, and no name is this long.
    if seen.len() > 64 {
        return None;
    }
    let (distance, name) =
        names.map(|name| (strsim::osa_distance(seen, name), name)).min_by_key(|&(d, _)| d)?;
    (distance <= 1 + seen.chars().count().min(name.chars().count()) / 4).then_some(name)
}

/// "one of a, b, c", or "nothing" for no names.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "nothing here".to_string(),
        [only] => only.to_string(),
        _ => format!("one of {}", names.join(", ")),
    }
}
