//! Values as TOML wrote them, before anybody gave them a meaning.

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
            Value::List(_) => "a list".to_string(),
            Value::Other(what) => what.to_string(),
        }
    }
}

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

fn escaped(c: char) -> impl Iterator<Item = char> {
    let needed = c == '"' || c == '\\' || c.is_control();
    let (plain, escape) = if needed { (None, Some(c.escape_default())) } else { (Some(c), None) };
    plain.into_iter().chain(escape.into_iter().flatten())
}
