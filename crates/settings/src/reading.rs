//! What has been asked of a document so far, shared by all its sections.

use crate::error::{ConfigError, Problem, did_you_mean, one_of};
use crate::resolution::{Entry, Resolution};
use crate::tree::{Node, Table, join};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by a document and its sections.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reading(Arc<Mutex<State>>);

#[derive(Default, Debug)]
struct State {
    resolution: Resolution,
    /// The legal names of each opened section, in the order they were asked for.
    legal: BTreeMap<String, Vec<String>>,
}

impl Reading {
    pub fn resolution(&self) -> Resolution {
        self.state().resolution.clone()
    }

    pub fn record(&self, entry: Entry) {
        self.state().resolution.record(entry);
    }

    /// Notes that the section at `path` is being read.
    pub fn open(&self, path: &str) {
        self.state().legal.entry(path.to_string()).or_default();
    }

    /// Notes that `key` is legal in the section at `path`.
    pub fn allow(&self, path: &str, key: &str) {
        let mut state = self.state();
        let names = state.legal.entry(path.to_string()).or_default();
        if !names.iter().any(|name| name == key) {
            names.push(key.to_string());
        }
    }

    /// The first key (by line) at or below the section at `path` that nobody asked for, as an error.
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
