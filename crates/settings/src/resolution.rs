//! The resolved configuration: every value that was read, with its origin.

use crate::origin::Origin;
use crate::value::escape;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

/// One value as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Full path of the key.
    pub path: String,
    /// The value in base units (`80000`); empty for an optional key that was left out.
    pub canonical: String,
    /// Base unit of the canonical form: `ns`, `B`, `/s`, or empty.
    pub unit: &'static str,
    /// The value as a user would write it (`80us`), or `not set`.
    pub display: String,
    /// Where the value came from.
    pub origin: Origin,
    /// One line of documentation of the key.
    pub doc: &'static str,
    /// False for labels, which change no result and so never enter a hash.
    pub hashed: bool,
    /// Whether preconditioning reads it.
    pub shapes_state: bool,
}

/// Every value that was read from a document, in the order of reading.
#[derive(Clone, Default, Debug)]
pub struct Resolution {
    entries: Vec<Entry>,
    index: BTreeMap<String, usize>,
}

impl Resolution {
    /// Every value, in the order of reading; a key read twice is listed once.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The value at a full path, if it was read.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        self.index.get(path).map(|&at| &self.entries[at])
    }

    /// 128-bit xxh3 hash, as 32 hexadecimal digits, over the `path=canonical` lines sorted by path.
    ///
    /// Leaves out labels and whatever lies at or below one of the paths in `exclude` (output options, thread
    /// counts). Origins, files and spellings do not enter: `0.08ms` and `80us` hash alike.
    pub fn hash(&self, exclude: &[&str]) -> String {
        self.hash_of(|entry| !exclude.iter().any(|prefix| lies_below(&entry.path, prefix)))
    }

    /// The values that [`Resolution::hash`] covers, in the order of reading.
    pub fn hashed(&self, exclude: &[&str]) -> impl Iterator<Item = &Entry> {
        let excluded = move |path: &str| exclude.iter().any(|prefix| lies_below(path, prefix));
        self.entries.iter().filter(move |entry| entry.hashed && !excluded(&entry.path))
    }

    /// As [`Resolution::hash`], over what preconditioning reads: equal hashes have equal preconditioned states.
    pub fn state_hash(&self) -> String {
        self.hash_of(|entry| entry.shapes_state)
    }

    fn hash_of(&self, keep: impl Fn(&Entry) -> bool) -> String {
        let mut hasher = Xxh3::new();
        for (path, &at) in &self.index {
            let entry = &self.entries[at];
            if entry.hashed && keep(entry) {
                hasher.update(format!("{path}={}\n", escape(&entry.canonical)).as_bytes());
            }
        }
        format!("{:032x}", hasher.digest128())
    }

    pub(crate) fn record(&mut self, entry: Entry) {
        match self.index.get(&entry.path) {
            Some(&at) => self.entries[at] = entry,
            None => {
                self.index.insert(entry.path.clone(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}

/// True if `path` is `prefix` or lies below it: `run.out` holds `run.out.dir` but not `run.output`.
fn lies_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
