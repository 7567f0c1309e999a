//! TOML parser: text to configuration tree.

use crate::error::{ConfigError, Problem};
use crate::origin::{Origin, Place};
use crate::tree::{Leaf, Node, Table, join};
use crate::value::{Value, quoted};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// No configuration nests deeper; what does is refused before it can exhaust a stack.
const DEEPEST: usize = 16;

/// A layer's text with what is needed to name a line of it.
pub(crate) struct Text<'a> {
    text: &'a str,
    /// The origin of line 1 of this text.
    origin: Origin,
    /// Where its lines end: every key is asked for its line.
    ends: Vec<usize>,
}

impl Text<'_> {
    pub fn new(text: &str, origin: Origin) -> Text<'_> {
        Text { text, origin, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The whole text as a table.
    pub fn table(&self) -> Result<Table, ConfigError> {
        let parsed = DeTable::parse(self.text).map_err(|error| self.syntax_error(&error))?;
        self.convert_table(parsed.get_ref(), self.origin.clone(), "", 0)
    }

    /// The whole text as one value at `path`, or `None` if it is not a TOML value.
    pub fn value(&self, path: &str) -> Result<Option<Node>, ConfigError> {
        match DeValue::parse(self.text) {
            Ok(value) => self.convert(value.get_ref(), self.origin.clone(), path, 0).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn convert_table(
        &self,
        table: &DeTable<'_>,
        origin: Origin,
        path: &str,
        depth: usize,
    ) -> Result<Table, ConfigError> {
        if depth > DEEPEST {
            let expected = format!("at most {DEEPEST} levels");
            return Err(ConfigError::new(Problem::Value, origin.place(), path, "deeper nesting", expected));
        }
        let mut converted = Table::new(origin);
        for (key, value) in table.iter() {
            let name = key.get_ref().to_string();
            let at = join(path, &name);
            let node = self.convert(value.get_ref(), self.origin_of(key), &at, depth)?;
            converted.entries.insert(name, node);
        }
        Ok(converted)
    }

    fn convert(
        &self,
        value: &DeValue<'_>,
        origin: Origin,
        path: &str,
        depth: usize,
    ) -> Result<Node, ConfigError> {
        match value {
            DeValue::Table(table) => match cited(table) {
                Some((value, source)) => {
                    let origin = origin.citing(source);
                    Ok(Node::Leaf(Leaf { value: scalar(value, &origin, path, depth)?, origin }))
                }
                None => self.convert_table(table, origin, path, depth + 1).map(Node::Table),
            },
            DeValue::Array(items) if !items.is_empty() && items.iter().all(|i| i.get_ref().is_table()) => {
                let mut tables = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let DeValue::Table(table) = item.get_ref() else { continue };
                    let at = join(path, &index.to_string());
                    tables.push(self.convert_table(table, self.origin_of(item), &at, depth + 1)?);
                }
                Ok(Node::Tables(tables, origin))
            }
            value => Ok(Node::Leaf(Leaf { value: scalar(value, &origin, path, depth)?, origin })),
        }
    }

    fn origin_of<T>(&self, spanned: &Spanned<T>) -> Origin {
        let found = self.line_of(spanned.span().start);
        let mut origin = self.origin.clone();
        if let Origin::File { line, .. } | Origin::Preset { line, .. } = &mut origin {
            *line = found;
        }
        origin
    }

    fn line_of(&self, offset: usize) -> u32 {
        let breaks = self.ends.partition_point(|&end| end < offset);
        u32::try_from(breaks).map_or(u32::MAX, |n| n.saturating_add(1))
    }

    fn syntax_error(&self, error: &toml::de::Error) -> ConfigError {
        let line = error.span().map(|span| self.line_of(span.start));
        let seen = line.and_then(|n| self.text.lines().nth(n as usize - 1)).unwrap_or("");
        let place = Place { line, ..self.origin.place() };
        let mut expected = format!("TOML: {}", error.message().replace('\n', "; "));
        if error.message().contains("with a dotted key") {
            let section = seen.split(['.', '=']).next().unwrap_or_default().trim();
            expected +=
                &format!("; what has keys of its own is a table: [{section}], with a preset and the keys");
        }
        ConfigError::new(Problem::Syntax, place, "", quoted(seen.trim()), expected)
    }
}

/// The value and citation of `{ value = ..., source = "..." }`.
fn cited<'t>(table: &'t DeTable<'_>) -> Option<(&'t DeValue<'t>, Option<Arc<str>>)> {
    let mut value = None;
    let mut source = None;
    for (key, entry) in table.iter() {
        match (key.get_ref().as_ref(), entry.get_ref()) {
            ("value", DeValue::Table(_)) => return None,
            ("value", found) => value = Some(found),
            ("source", DeValue::String(text)) => source = Some(Arc::from(text.as_ref())),
            _ => return None,
        }
    }
    value.map(|value| (value, source))
}

fn scalar(value: &DeValue<'_>, origin: &Origin, path: &str, depth: usize) -> Result<Value, ConfigError> {
    let refuse = |seen: String, expected: &str| {
        Err(ConfigError::new(Problem::Value, origin.place(), path, seen, expected))
    };
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => return refuse(quoted(number.as_str()), "a number that fits into 64 bits"),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) => Value::Float(number),
            Err(_) => return refuse(quoted(number.as_str()), "a number"),
        },
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Table(_) => Value::Other("a table"),
        DeValue::Array(items) => {
            if depth > DEEPEST {
                return refuse("deeper nesting".to_string(), &format!("at most {DEEPEST} levels"));
            }
            let items = items.iter().map(|item| scalar(item.get_ref(), origin, path, depth + 1));
            Value::List(items.collect::<Result<_, _>>()?)
        }
    })
}
