//! Configuration tree: tables, arrays of tables, and leaves with their origin.

use crate::error::{ConfigError, Problem};
use crate::origin::Origin;
use crate::value::{Value, escape};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf(Leaf),
    Table(Table),
    Tables(Vec<Table>, Origin),
}

#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub value: Value,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub entries: BTreeMap<String, Node>,
    pub origin: Origin,
}

impl Node {
    pub fn origin(&self) -> &Origin {
        match self {
            Node::Leaf(leaf) => &leaf.origin,
            Node::Table(table) => &table.origin,
            Node::Tables(_, origin) => origin,
        }
    }

    /// The node as error messages show it.
    pub fn describe(&self) -> String {
        match self {
            Node::Leaf(leaf) => leaf.value.describe(),
            Node::Table(_) => "a table".to_string(),
            Node::Tables(..) => "an array of tables".to_string(),
        }
    }
}

impl Table {
    pub fn new(origin: Origin) -> Table {
        Table { entries: BTreeMap::new(), origin }
    }

    /// This layer over `lower`, leaf by leaf; `path` is the path of both.
    pub fn over(self, mut lower: Table, path: &str) -> Result<Table, ConfigError> {
        for (key, upper) in self.entries {
            let at = join(path, &key);
            let merged = match (upper, lower.entries.remove(&key)) {
                (Node::Table(upper), Some(Node::Table(lower))) => Node::Table(upper.over(lower, &at)?),
                (Node::Table(upper), Some(Node::Tables(lower, origin))) if upper.is_indexed() => {
                    Node::Tables(upper.into_entries_of(lower, &at)?, origin)
                }
                (upper, _) => upper,
            };
            lower.entries.insert(key, merged);
        }
        // A `--set` opens no section of its own: messages about the section point at the file.
        let opens_none = matches!(self.origin, Origin::Set | Origin::Follows { .. } | Origin::Default);
        let origin = if opens_none { lower.origin } else { self.origin };
        Ok(Table { entries: lower.entries, origin })
    }

    /// True if every key is a number, as `--set flow.0.depth=8` writes it.
    fn is_indexed(&self) -> bool {
        !self.entries.is_empty() && self.entries.keys().all(|key| key.parse::<usize>().is_ok())
    }

    fn into_entries_of(self, mut lower: Vec<Table>, path: &str) -> Result<Vec<Table>, ConfigError> {
        for (key, node) in self.entries {
            let at = join(path, &key);
            let count = lower.len();
            let slot = key.parse::<usize>().ok().and_then(|index| lower.get_mut(index));
            match (slot, node) {
                (Some(slot), Node::Table(upper)) => *slot = upper.over(slot.clone(), &at)?,
                (None, node) => {
                    let expected = format!("an entry from 0 to {}", count.saturating_sub(1));
                    let seen = format!("entry {}", escape(&key));
                    let place = node.origin().place();
                    return Err(ConfigError::new(Problem::Value, place, at, seen, expected));
                }
                (Some(_), node) => {
                    let place = node.origin().place();
                    return Err(ConfigError::new(Problem::Value, place, at, node.describe(), "a table"));
                }
            }
        }
        Ok(lower)
    }

    /// Calls `visit` with the path of every leaf.
    pub fn for_each_leaf(&self, path: &str, visit: &mut impl FnMut(&str, &Leaf)) {
        for (key, node) in &self.entries {
            let at = join(path, key);
            match node {
                Node::Leaf(leaf) => visit(&at, leaf),
                Node::Table(table) => table.for_each_leaf(&at, visit),
                Node::Tables(tables, _) => {
                    for (index, table) in tables.iter().enumerate() {
                        table.for_each_leaf(&join(&at, &index.to_string()), visit);
                    }
                }
            }
        }
    }
}

/// `path.key`, the key quoted unless it is a bare TOML key.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let key = if bare { key.to_string() } else { format!("\"{}\"", escape(key)) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
