//! Section reader: typed access to the keys of one table.

mod choices;
mod conditional_keys;
mod quantities;

use crate::declaration::Key;
use crate::error::{ConfigError, Missing, Problem, nearest};
use crate::origin::{Origin, Place};
use crate::parse::Text;
use crate::read_tracking::ReadTracker;
use crate::resolution::Entry;
use crate::tree::{Leaf, Node, Table, join};
use crate::value::{Value, plain};
use crate::value_types::ValueType;
use std::sync::Arc;

pub use conditional_keys::{Row, Variant};

/// Suffix of a value in messages that is not written.
const DEFAULTED: &str = "(the default)";

/// One table of a document, being read.
///
/// Every reader takes the key, one line of documentation, and the accepted values; it records the value with its origin and
/// makes the key legal. [`Section::finish`] then refuses unread keys. Handles of the same section share the tracking.
#[derive(Clone, Debug)]
pub struct Section {
    table: Arc<Table>,
    path: String,
    place: Place,
    reading: ReadTracker,
    /// Conditions of the keys, outermost first.
    belongs_to: Vec<String>,
    /// Whether preconditioning reads the keys.
    shapes_state: bool,
    /// Why written keys are refused, if they are.
    refuses: Option<String>,
}

impl Section {
    pub(crate) fn new(table: Table, path: String, place: Place, reading: ReadTracker) -> Section {
        reading.open(&path);
        let table = Arc::new(table);
        Section { table, path, place, reading, belongs_to: Vec::new(), shapes_state: false, refuses: None }
    }

    /// A section below this one, with the same conditions.
    fn below(&self, table: Table, path: String, place: Place) -> Section {
        let below = Section::new(table, path, place, self.reading.clone());
        Section { belongs_to: self.belongs_to.clone(), shapes_state: self.shapes_state, ..below }
    }

    /// Full path of this section; empty for the top.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if `key` is written in some layer.
    pub fn has(&self, key: &str) -> bool {
        self.table.entries.contains_key(key)
    }

    /// True if nothing is written in it.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// The sub-section called `name`; empty if it is not written. Fails if the key holds something else.
    pub fn section(&self, name: &str) -> Result<Section, ConfigError> {
        self.reading.allow(&self.path, name);
        let path = join(&self.path, name);
        match self.table.entries.get(name) {
            Some(Node::Table(table)) => {
                let place = table.origin.place();
                Ok(self.below(table.clone(), path, place))
            }
            Some(other) => {
                let place = other.origin().place();
                Err(ConfigError::new(Problem::Value, place, path, other.describe(), "a table"))
            }
            None => {
                let place = Place { line: None, ..self.place.clone() };
                Ok(self.below(Table::new(Origin::Default), path, place))
            }
        }
    }

    /// The entries of the array of tables called `name`; none if it is not written. Fails if the key holds something else.
    pub fn tables(&self, name: &str) -> Result<Vec<Section>, ConfigError> {
        self.reading.allow(&self.path, name);
        let path = join(&self.path, name);
        if self.reading.declares() {
            return Ok(vec![self.below(Table::new(Origin::Default), join(&path, "N"), self.place.clone())]);
        }
        match self.table.entries.get(name) {
            None => Ok(Vec::new()),
            Some(Node::Leaf(Leaf { value: Value::List(items), .. })) if items.is_empty() => Ok(Vec::new()),
            Some(Node::Tables(tables, _)) => {
                let sections = tables.iter().enumerate().map(|(index, table)| {
                    self.below(table.clone(), join(&path, &index.to_string()), table.origin.place())
                });
                Ok(sections.collect())
            }
            Some(other) => {
                let hint = match other.origin() {
                    Origin::Set => "no file or preset has entries to override".to_string(),
                    _ => format!("write [[{path}]]"),
                };
                let place = other.origin().place();
                let seen = other.describe();
                Err(ConfigError::new(Problem::Value, place, path, seen, "an array of tables")
                    .hinting(Some(hint)))
            }
        }
    }

    /// Refuses `key` if it is written: it has no meaning beside the others, for the reason `why`.
    pub fn refuse(&self, key: &str, why: impl Into<String>) -> Result<(), ConfigError> {
        match self.table.entries.get(key) {
            None => Ok(()),
            Some(node) => {
                let (place, path) = (node.origin().place(), join(&self.path, key));
                Err(ConfigError::new(Problem::NotApplicable, place, path, node.describe(), why))
            }
        }
    }

    /// An error about the value of `key` that only its reader could find, such as a file that is not there.
    pub fn invalid(&self, key: &str, expected: impl Into<String>) -> ConfigError {
        let path = join(&self.path, key);
        match self.table.entries.get(key) {
            Some(node) => {
                ConfigError::new(Problem::Value, node.origin().place(), path, node.describe(), expected)
            }
            None => {
                let shown = self.reading.resolution().entry(&path).map(|entry| entry.display.clone());
                let seen = format!("{} {DEFAULTED}", shown.unwrap_or_else(|| "nothing".to_string()));
                ConfigError::new(Problem::Value, self.place.clone(), path, seen, expected)
            }
        }
    }

    /// Fails as [`Section::invalid`] says unless the value of `key` is one that `holds`.
    pub fn check(&self, holds: bool, key: &str, expected: impl Into<String>) -> Result<(), ConfigError> {
        if holds { Ok(()) } else { Err(self.invalid(key, expected)) }
    }

    /// Fails as [`Section::conflict`] says unless what `keys` say together `holds`.
    pub fn check_together(
        &self,
        holds: bool,
        keys: &[&str],
        message: impl Into<String>,
    ) -> Result<(), ConfigError> {
        if holds { Ok(()) } else { Err(self.conflict(keys, message)) }
    }

    /// As [`ConfigError::conflict`], for keys of this section that have been read.
    pub fn conflict(&self, keys: &[&str], message: impl Into<String>) -> ConfigError {
        let paths: Vec<String> = keys.iter().map(|key| join(&self.path, key)).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        ConfigError::conflict(&self.reading.resolution(), &paths, message)
    }

    /// File and line of what is written at `key`, as messages begin; empty for what no file holds.
    pub fn place_of(&self, key: &str) -> String {
        let Some(node) = self.table.entries.get(key) else { return String::new() };
        let place = node.origin().place();
        match (place.file, place.line) {
            (Some(file), Some(line)) => format!("{}:{line}: ", plain(&file)),
            (Some(file), None) => format!("{}: ", plain(&file)),
            _ => String::new(),
        }
    }

    /// Checks that everything written in this section, and in the sub-sections opened, has been read.
    pub fn finish(&self) -> Result<(), ConfigError> {
        self.reading.check(&self.table, &self.path)
    }

    /// Makes `name` legal, declares it as `key`, and returns its written or generated value.
    fn ask(
        &self,
        name: &str,
        expected: &str,
        key: impl FnOnce() -> Key,
    ) -> Result<Option<Leaf>, ConfigError> {
        self.reading.allow(&self.path, name);
        let written = self.table.entries.get(name);
        let settled = written.is_some() || self.refuses.is_some();
        let drawn = self.reading.declare(settled, || Key {
            path: join(&self.path, name),
            belongs_to: self.belongs_to.clone(),
            shapes_state: self.shapes_state,
            ..key()
        });
        let drawn = match drawn {
            Some(text) => Text::new(&text, Origin::Set).value(name)?,
            None => None,
        };
        if let Some(why) = &self.refuses {
            self.refuse(name, why)?;
        }
        match written.or(drawn.as_ref()) {
            Some(Node::Leaf(leaf)) => Ok(Some(leaf.clone())),
            Some(other) => {
                let (place, path) = (other.origin().place(), join(&self.path, name));
                Err(ConfigError::new(Problem::Value, place, path, other.describe(), expected))
            }
            None => Ok(None),
        }
    }

    /// Handles a missing required key: fails unless keys are declared or missing keys are collected.
    fn miss(
        &self,
        key: &str,
        doc: &'static str,
        typical: Option<String>,
        expected: impl FnOnce() -> String,
    ) -> Result<(), ConfigError> {
        if self.reading.declares() {
            return Ok(());
        }
        // An unread key with nearly the same name is probably the key misspelt.
        let wanted = |name: &str| self.reading.allows(&self.path, name);
        let written = self.table.entries.keys().map(String::as_str).filter(|name| !wanted(name));
        let meant =
            nearest(key, written).map(|name| format!(" (\"{}\" is written: was it meant?)", plain(name)));
        let expected = expected() + &meant.unwrap_or_default();
        let (place, key) = (self.place.clone(), join(&self.path, key));
        self.reading.miss(Missing { place, key, expected, doc, typical })
    }

    /// The result of `read`. If a key is missing, the error names all missing keys.
    pub fn reporting_all_missing<T>(
        &mut self,
        read: impl Fn(&mut Section) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let lacks = |error: &ConfigError| error.problem() == Problem::MissingKey;
        read(self).map_err(|error| {
            let all = Section { reading: ReadTracker::collecting(), ..self.clone() };
            if lacks(&error) { all.missed_by(&read).unwrap_or(error) } else { error }
        })
    }

    /// The error about all keys that `read` misses; this section must be one that collects.
    pub(crate) fn missed_by<T>(
        mut self,
        read: &dyn Fn(&mut Section) -> Result<T, ConfigError>,
    ) -> Option<ConfigError> {
        match read(&mut self) {
            // A value that cannot be used comes first: it was written, and may be why others seem to be missing.
            Err(error) if error.problem() == Problem::Value && !error.seen().ends_with(DEFAULTED) => {
                Some(error)
            }
            // The result for example values does not matter.
            _ => self.reading.missed(),
        }
    }

    fn not_a_list(&self, key: &str, value: &Value, place: Place) -> ConfigError {
        // Text that already opens a bracket is a list whose texts lack their quotes.
        let text = value.describe();
        let hint = if text.starts_with("\"[") {
            "write the texts of the list in quotes: [\"a\", \"b\"]".to_string()
        } else {
            format!("write [{text}]")
        };
        let hint = Some(hint);
        ConfigError::new(Problem::Value, place, join(&self.path, key), value.describe(), "a list")
            .hinting(hint)
    }

    fn record<T>(&self, kind: &ValueType<T>, key: &str, doc: &'static str, value: Option<&T>, hashed: bool) {
        let canonical = value.map(kind.canonical).unwrap_or_default();
        let display = value.map_or_else(|| "not set".to_string(), kind.display);
        self.write(key, doc, canonical, kind.unit, display, hashed);
    }

    fn write(
        &self,
        key: &str,
        doc: &'static str,
        canonical: String,
        unit: &'static str,
        display: String,
        hashed: bool,
    ) {
        let origin = self.table.entries.get(key).map_or(Origin::Default, |node| node.origin().clone());
        let path = join(&self.path, key);
        let shapes_state = self.shapes_state;
        self.reading.record(Entry { path, canonical, unit, display, origin, doc, hashed, shapes_state });
    }
}
