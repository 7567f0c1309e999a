//! Layered configuration document.

use crate::declaration::Key;
use crate::error::{ConfigError, Problem};
use crate::origin::{Origin, Place, PresetKind};
use crate::parse::Text;
use crate::read_tracking::ReadTracker;
use crate::resolution::Resolution;
use crate::section::Section;
use crate::tree::{Leaf, Node, Table, join};
use crate::value::{Value, quoted};

/// One layer of configuration, or several laid over each other.
///
/// In any layer a leaf may be written plainly (`read-lsb = "80us"`) or with a citation
/// (`read-lsb = { value = "80us", source = "data sheet, page 7" }`).
#[derive(Clone, Debug)]
pub struct Document {
    root: Table,
    reading: ReadTracker,
}

impl Document {
    /// A user's file; `file` is its name in messages and origins.
    ///
    /// Fails on text that is not TOML, naming the line.
    pub fn from_toml(text: &str, file: &str) -> Result<Document, ConfigError> {
        Document::parsed(text, Origin::File { file: file.into(), line: 1, source: None })
    }

    /// As [`Document::from_toml`], for bytes that may not even be text.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Document, ConfigError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Document::from_toml(text, file),
            Err(error) => {
                let good = &bytes[..error.valid_up_to()];
                let line = 1 + good.iter().filter(|&&b| b == b'\n').count();
                let place = Place { file: Some(file.to_string()), line: u32::try_from(line).ok() };
                let seen = "bytes that are not UTF-8";
                Err(ConfigError::new(Problem::Syntax, place, "", seen, "a text file"))
            }
        }
    }

    /// An embedded preset; `name` is its name in messages and origins.
    pub fn preset(text: &str, kind: PresetKind, name: &str) -> Result<Document, ConfigError> {
        Document::parsed(text, Origin::Preset { kind, name: name.into(), line: 1, source: None })
    }

    /// A command line override, `--set a.b.c=text`.
    ///
    /// `text` is a TOML value if it parses as one, else a string. A number in `key` addresses an entry of an
    /// array of tables: `flow.0.depth`. Fails on a key that is not made of bare words and dots.
    pub fn set(key: &str, text: &str) -> Result<Document, ConfigError> {
        let bare = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let parts: Vec<&str> = key.split('.').collect();
        if parts.len() > 16 || !parts.iter().all(|part| bare(part)) {
            let place = Origin::Set.place();
            let expected = "a key such as ftl.gc or flow.0.depth";
            return Err(ConfigError::new(Problem::Value, place, "", quoted(key), expected));
        }
        let text = text.trim();
        let parsed = Text::new(text, Origin::Set).value(key)?;
        let mut node = parsed.unwrap_or_else(|| {
            Node::Leaf(Leaf { value: Value::String(text.to_string()), origin: Origin::Set })
        });
        for part in parts.iter().rev() {
            let mut table = Table::new(Origin::Set);
            table.entries.insert(part.to_string(), node);
            node = Node::Table(table);
        }
        let Node::Table(root) = node else { unreachable!("a key has at least one part") };
        Ok(Document { root, reading: ReadTracker::default() })
    }

    /// A document in which nothing is written.
    pub fn empty() -> Document {
        Document { root: Table::new(Origin::Default), reading: ReadTracker::default() }
    }

    /// This layer over `lower`, leaf by leaf; an array of tables is replaced whole, except by a `--set` that
    /// addresses one of its entries. What was read from either layer so far is forgotten.
    ///
    /// Fails if a `--set` addresses an entry that is not there.
    pub fn over(self, lower: Document) -> Result<Document, ConfigError> {
        Ok(Document { root: self.root.over(lower.root, "")?, reading: ReadTracker::default() })
    }

    /// This layer over `lower`, as [`Document::over`]; what is missing in the section `name` is missing in `lower`, as far
    /// as messages go.
    pub fn completed_by(self, lower: Document, name: &str) -> Result<Document, ConfigError> {
        let origin = lower.root.entries.get(name).map(|node| node.origin().clone());
        let mut all = self.over(lower)?;
        if let (Some(Node::Table(table)), Some(origin)) = (all.root.entries.get_mut(name), origin) {
            table.origin = origin;
        }
        Ok(all)
    }

    /// This document with entry `index` of the array of tables `name` laid over the section `section`, of which it leaves out the
    /// keys `without`.
    pub fn with_entry_over(
        mut self,
        name: &str,
        index: usize,
        section: &str,
        without: &[&str],
    ) -> Result<Document, ConfigError> {
        let Some(Node::Table(lower)) = self.root.entries.get(section) else { return Ok(self) };
        let mut lower = lower.clone();
        lower.entries.retain(|key, _| !without.contains(&key.as_str()));
        if let Some(Node::Tables(tables, _)) = self.root.entries.get_mut(name)
            && let Some(entry) = tables.get_mut(index)
        {
            *entry = entry.clone().over(lower, &join(name, &index.to_string()))?;
        }
        Ok(Document { reading: ReadTracker::default(), ..self })
    }

    /// This document without the key or section `path`.
    pub fn without(mut self, path: &str) -> Document {
        remove(&mut self.root, path);
        Document { reading: ReadTracker::default(), ..self }
    }

    /// This document, in which a plain value at the top key `name` is short for the key `key` of a section of that name.
    pub fn with_shorthand(mut self, name: &str, key: &str) -> Document {
        if let Some(node @ Node::Leaf(_)) = self.root.entries.get_mut(name) {
            let mut table = Table::new(node.origin().clone());
            table.entries.insert(key.to_string(), node.clone());
            *node = Node::Table(table);
        }
        self
    }

    /// Fails with `expected` if a value is written where the section `name` belongs.
    pub fn with_section_only(self, name: &str, expected: &str) -> Result<Document, ConfigError> {
        match self.root.entries.get(name) {
            Some(node @ Node::Leaf(_)) => {
                let place = node.origin().place();
                Err(ConfigError::new(Problem::Value, place, name, node.describe(), expected))
            }
            _ => Ok(self),
        }
    }

    /// This document with the number `value` at the key `key` of the section `section`, whatever is written there: it
    /// follows from the value at `from`, which has been read.
    pub fn with_derived(mut self, section: &str, key: &str, value: u32, from: &str) -> Document {
        let at = self.reading.resolution().entry(from).map_or(Origin::Default, |entry| entry.origin.clone());
        let origin = Origin::Follows { from: from.into(), at: at.into() };
        let root = &mut self.root.entries;
        let table =
            root.entry(section.to_string()).or_insert_with(|| Node::Table(Table::new(origin.clone())));
        if let Node::Table(table) = table {
            let leaf = Leaf { value: Value::Integer(value.into()), origin };
            table.entries.insert(key.to_string(), Node::Leaf(leaf));
        }
        Document { reading: ReadTracker::default(), ..self }
    }

    /// The result of `read`. If a key is missing, the error names all missing keys.
    pub fn reporting_all_missing<T>(
        &self,
        read: impl Fn(&Document) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        read(self).map_err(|error| {
            if !matches!(error.problem(), Problem::MissingKey | Problem::MissingKeys) {
                return error;
            }
            let all = Document { root: self.root.clone(), reading: ReadTracker::collecting() };
            all.top().missed_by(&|_| read(&all)).unwrap_or(error)
        })
    }

    /// The section called `name`; empty if it is not written. Fails if the key holds something else.
    pub fn section(&self, name: &str) -> Result<Section, ConfigError> {
        self.top().section(name)
    }

    /// The entries of the array of tables called `name`; none if it is not written.
    pub fn tables(&self, name: &str) -> Result<Vec<Section>, ConfigError> {
        self.top().tables(name)
    }

    /// The keys above the first section, as a section of its own.
    pub fn top(&self) -> Section {
        Section::new(self.root.clone(), String::new(), self.root.origin.place(), self.reading.clone())
    }

    /// True if anything is written at the full path `path` (bare keys and dots).
    pub fn has(&self, path: &str) -> bool {
        let mut table = &self.root;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            match table.entries.get(part) {
                Some(_) if parts.peek().is_none() => return true,
                Some(Node::Table(next)) => table = next,
                _ => return false,
            }
        }
        false
    }

    /// Where the value at the full path `path` (bare keys and dots) comes from; `None` if none is written there.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let mut parts = path.split('.');
        let first = self.root.entries.get(parts.next()?)?;
        let node = parts.try_fold(first, |node, part| match node {
            Node::Table(table) => table.entries.get(part),
            _ => None,
        })?;
        Some(node.origin())
    }

    /// Checks that everything written has been read: unknown sections, and unknown keys of the sections that
    /// were opened.
    pub fn finish(&self) -> Result<(), ConfigError> {
        self.top().finish()
    }

    /// Checks that nothing is written outside of the section called `name`.
    pub fn only(&self, name: &str) -> Result<(), ConfigError> {
        let reading = ReadTracker::default();
        reading.allow("", name);
        reading.check(&self.root, "")
    }

    /// Every value read so far.
    pub fn resolution(&self) -> Resolution {
        self.reading.resolution()
    }

    /// Full paths of the leaves that carry no citation.
    pub fn uncited(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.root.for_each_leaf("", &mut |path, leaf| {
            if leaf.origin.source().is_none_or(|source| source.trim().is_empty()) {
                paths.push(path.to_string());
            }
        });
        paths
    }

    /// Full paths of all leaves, sorted within each table.
    pub fn leaves(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.root.for_each_leaf("", &mut |path, _| paths.push(path.to_string()));
        paths
    }

    /// This document with all its content moved below the table `name`.
    pub fn under(self, name: &str) -> Document {
        let mut root = Table::new(self.root.origin.clone());
        root.entries.insert(name.to_string(), Node::Table(self.root));
        Document { root, reading: ReadTracker::default() }
    }

    /// This document for listing keys ([`Document::keys`]) rather than reading values: missing keys get example values, and
    /// every row of every registry is read.
    pub fn declaring(self) -> Document {
        Document { reading: ReadTracker::declaring(), ..self }
    }

    /// The keys read since this document became [declaring](Document::declaring), in that order.
    ///
    /// Fails if a variant that is not chosen failed, which is a mistake in the program.
    pub fn keys(&self) -> Result<Vec<Key>, ConfigError> {
        self.reading.declared()
    }

    /// This document with values that `draw` generates, as TOML text, for keys that are not written; where it returns none,
    /// the key is left out.
    pub fn with_random_values(self, draw: impl FnMut(&Key) -> Option<String> + Send + 'static) -> Document {
        Document { reading: ReadTracker::with_random_values(draw), ..self }
    }

    fn parsed(text: &str, origin: Origin) -> Result<Document, ConfigError> {
        Ok(Document { root: Text::new(text, origin).table()?, reading: ReadTracker::default() })
    }

    /// The whole tree, for the fuzzer.
    pub(crate) fn root(&self) -> &Table {
        &self.root
    }
}

/// Removes the key or section `path` below a table.
fn remove(table: &mut Table, path: &str) {
    match path.split_once('.') {
        None => drop(table.entries.remove(path)),
        Some((section, below)) => {
            if let Some(Node::Table(next)) = table.entries.get_mut(section) {
                remove(next, below);
            }
        }
    }
}
