//! Untyped TOML values.

/// A scalar or a list.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    List(Vec<Value>),
    /// Something no key takes: a date, a table inside a list.
    Other(&'static str),
}

impl Value {
    /// The value as error messages show it: on one line, strings quoted, long ones cut.
    pub fn describe(&self) -> String {
        match self {
            Value::String(text) => quoted(text),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Bool(flag) => flag.to_string(),
            Value::List(items) => {
                let shown: Vec<String> = items.iter().take(SHOWN_ITEMS).map(Value::describe).collect();
                format!("[{}{}]", shown.join(", "), if items.len() > SHOWN_ITEMS { ", ..." } else { "" })
            }
            Value::Other(what) => what.to_string(),
        }
    }
}

/// Items of a list that messages show.
const SHOWN_ITEMS: usize = 6;

/// `text` in quotes with control characters escaped, cut after 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let cut = text.chars().count() > LONGEST;
    let shown: String = text.chars().take(LONGEST).flat_map(escaped).collect();
    format!("\"{shown}{}\"", if cut { "..." } else { "" })
}

/// `text` with backslashes, quotes and control characters escaped, so that it never spans lines.
pub(crate) fn escape(text: &str) -> String {
    text.chars().flat_map(escaped).collect()
}

/// `text` as one line of plain characters: whatever would move the cursor or turn the reading order is escaped.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let (same, escape) = if is_plain(c) { (Some(c), None) } else { (None, Some(c.escape_unicode())) };
            same.into_iter().chain(escape.into_iter().flatten())
        })
        .collect()
}

/// Whether a character is displayed as itself, in its place.
pub(crate) fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !turns
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let needed = c == '"' || c == '\\' || !is_plain(c);
    let (plain, escape) = if needed { (None, Some(c.escape_default())) } else { (Some(c), None) };
    plain.into_iter().chain(escape.into_iter().flatten())
}
