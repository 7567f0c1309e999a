//! Read tracking: the keys read from a document so far, shared by all its sections.

use crate::declaration::Key;
use crate::error::{ConfigError, Missing, Problem, did_you_mean, one_of};
use crate::resolution::{Entry, Resolution};
use crate::tree::{Node, Table, join};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by a document and its sections.
#[derive(Clone, Default, Debug)]
pub(crate) struct ReadTracker(Arc<Mutex<State>>);

#[derive(Default, Debug)]
struct State {
    resolution: Resolution,
    /// The legal names of each opened section, in the order of reading.
    legal: BTreeMap<String, Vec<String>>,
    /// Every key read so far, where keys are declared rather than read.
    declared: Option<Vec<Key>>,
    /// Why a variant that is not chosen could not be declared.
    mistake: Option<ConfigError>,
    draw: Option<Draw>,
    /// Missing required keys, where they are collected.
    missing: Option<Vec<Missing>>,
}

/// Generates values for keys that are not written.
struct Draw(Box<DrawKey>);

type DrawKey = dyn FnMut(&Key) -> Option<String> + Send;

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Draw")
    }
}

impl ReadTracker {
    /// A tracker that declares keys: a missing key is no error.
    pub fn declaring() -> ReadTracker {
        let reading = ReadTracker::default();
        reading.state().declared = Some(Vec::new());
        reading
    }

    /// A tracker for which `draw` generates values of keys that are not written.
    pub fn with_random_values(draw: impl FnMut(&Key) -> Option<String> + Send + 'static) -> ReadTracker {
        let reading = ReadTracker::default();
        reading.state().draw = Some(Draw(Box::new(draw)));
        reading
    }

    /// A tracker that collects missing keys and uses example values for them.
    pub fn collecting() -> ReadTracker {
        let reading = ReadTracker::default();
        reading.state().missing = Some(Vec::new());
        reading
    }

    /// Records a missing key. Fails unless missing keys are collected.
    pub fn miss(&self, missing: Missing) -> Result<(), ConfigError> {
        match &mut self.state().missing {
            Some(all) => {
                if !all.iter().any(|other| other.key == missing.key) {
                    all.push(missing);
                }
                Ok(())
            }
            None => Err(ConfigError::all_missing(vec![missing]).expect("one key is missing")),
        }
    }

    /// The error about all keys that were missing, if any were.
    pub fn missed(&self) -> Option<ConfigError> {
        ConfigError::all_missing(self.state().missing.clone().unwrap_or_default())
    }

    pub fn declares(&self) -> bool {
        self.state().declared.is_some()
    }

    /// Declares a key; returns the text generated for it, unless it is `written`.
    pub fn declare(&self, written: bool, key: impl FnOnce() -> Key) -> Option<String> {
        let mut state = self.state();
        if let Some(declared) = &mut state.declared {
            let key = key();
            if !declared.contains(&key) {
                declared.push(key);
            }
            return None;
        }
        let draw = state.draw.as_mut().filter(|_| !written)?;
        (draw.0)(&key())
    }

    /// The declared keys, or why some could not be declared.
    pub fn declared(&self) -> Result<Vec<Key>, ConfigError> {
        let state = self.state();
        state.mistake.clone().map_or_else(|| Ok(state.declared.clone().unwrap_or_default()), Err)
    }

    /// Records that a variant that is not chosen failed, perhaps before it had declared all of its keys.
    pub fn cannot_declare(&self, error: ConfigError) {
        self.state().mistake.get_or_insert(error);
    }

    /// The names that are legal in the section at `path`.
    pub fn names(&self, path: &str) -> Vec<String> {
        self.state().legal.get(path).cloned().unwrap_or_default()
    }

    /// Whether `key` is legal in the section at `path`.
    pub fn allows(&self, path: &str, key: &str) -> bool {
        self.state().legal.get(path).is_some_and(|names| names.iter().any(|name| name == key))
    }

    pub fn resolution(&self) -> Resolution {
        self.state().resolution.clone()
    }

    pub fn record(&self, entry: Entry) {
        self.state().resolution.record(entry);
    }

    /// Records that the section at `path` is being read.
    pub fn open(&self, path: &str) {
        self.state().legal.entry(path.to_string()).or_default();
    }

    /// Records that `key` is legal in the section at `path`.
    pub fn allow(&self, path: &str, key: &str) {
        let mut state = self.state();
        let names = state.legal.entry(path.to_string()).or_default();
        if !names.iter().any(|name| name == key) {
            names.push(key.to_string());
        }
    }

    /// The first unread key (by line) at or below the section at `path`, as an error.
    pub fn check(&self, table: &Table, path: &str) -> Result<(), ConfigError> {
        let state = self.state();
        let mut unknown: Vec<(String, &str, &Node)> = Vec::new();
        state.collect_unknown(table, path, &mut unknown);
        let first = unknown.into_iter().min_by_key(|(_, _, node)| node.origin().place().line);
        match first {
            Some((section, key, node)) => Err(state.unknown(&section, key, node)),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can leave the state half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn collect_unknown<'t>(
        &self,
        table: &'t Table,
        path: &str,
        unknown: &mut Vec<(String, &'t str, &'t Node)>,
    ) {
        let Some(legal) = self.legal.get(path) else { return };
        for (key, node) in &table.entries {
            if !legal.contains(key) {
                unknown.push((path.to_string(), key, node));
                continue;
            }
            let at = join(path, key);
            match node {
                Node::Leaf(_) => {}
                Node::Table(table) => self.collect_unknown(table, &at, unknown),
                Node::Tables(tables, _) => {
                    for (index, table) in tables.iter().enumerate() {
                        self.collect_unknown(table, &join(&at, &index.to_string()), unknown);
                    }
                }
            }
        }
    }

    fn unknown(&self, section: &str, key: &str, node: &Node) -> ConfigError {
        let what = if matches!(node, Node::Leaf(_)) { "key" } else { "section" };
        let legal = self.legal.get(section).map(Vec::as_slice).unwrap_or_default();
        let names = || legal.iter().map(String::as_str);
        let elsewhere = || {
            let (owner, _) = self.legal.iter().find(|(_, names)| names.iter().any(|name| name == key))?;
            Some(if owner.is_empty() {
                format!("\"{key}\" belongs above the first section")
            } else {
                format!("\"{key}\" belongs in [{owner}]")
            })
        };
        let hint = did_you_mean(key, names()).or_else(elsewhere);
        let place = node.origin().place();
        ConfigError::new(Problem::Unknown, place, join(section, key), what, one_of(names())).hinting(hint)
    }
}
