//! Key declarations: one record for error messages, the documentation of keys, lists, the hash of the preconditioned state
//! and randomised tests.

use crate::spec::Spec;
use crate::value_types::ValueType;

/// One key as its reader declares it.
#[derive(Clone, PartialEq, Debug)]
pub struct Key {
    /// Full path; entries of an array of tables are called `N`: `flow.N.rate`.
    pub path: String,
    /// One line of documentation.
    pub doc: &'static str,
    /// What it holds, such as `a duration`.
    pub noun: &'static str,
    /// Base unit of its bounds; empty for plain numbers and words.
    pub unit: &'static str,
    /// What holds where it is left out.
    pub need: Need,
    /// The range in words; empty for none.
    pub range: String,
    /// The default in base units, where it is a number.
    pub usual: Option<f64>,
    /// What it usually is about, where it is required and its reader knows.
    pub typical: Option<String>,
    /// Smallest legal value in base units, where it has one.
    pub least: Option<f64>,
    /// Largest legal value in base units, where it has one.
    pub most: Option<f64>,
    /// The names it chooses from, each with one line of documentation; empty where it does not choose.
    pub choices: Vec<(String, String)>,
    /// Whether it holds a list of such values.
    pub list: bool,
    /// What the configuration has to say for the key to apply, outermost first.
    pub belongs_to: Vec<String>,
    /// Whether preconditioning reads it.
    pub shapes_state: bool,
}

/// What holds where a key is left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Need {
    /// It must be written.
    Required,
    /// It may be left out, which is a meaning of its own.
    Optional,
    /// This value.
    Default(String),
}

impl Key {
    pub(crate) fn of<T: Clone + PartialOrd>(kind: &ValueType<T>, spec: &Spec<T>, doc: &'static str) -> Key {
        let number = |value: &T| (kind.canonical)(value).parse::<f64>().ok();
        Key {
            path: String::new(),
            doc,
            noun: kind.noun,
            unit: kind.unit,
            need: spec.default.as_ref().map_or(Need::Required, |v| Need::Default((kind.display)(v))),
            range: spec.words(kind.display).trim_start().to_string(),
            usual: spec.default.as_ref().and_then(number),
            typical: spec.typical.as_ref().map(kind.display),
            least: spec.above.as_ref().or(spec.min.as_ref()).and_then(number),
            most: spec.max.as_ref().or(kind.ceiling.as_ref()).and_then(number),
            choices: Vec::new(),
            list: false,
            belongs_to: Vec::new(),
            shapes_state: false,
        }
    }

    /// The same key, which may be left out.
    pub(crate) fn optional(mut self) -> Key {
        self.need = Need::Optional;
        self
    }

    /// The same key, holding a list, with this default.
    pub(crate) fn listing(mut self, default: Option<String>) -> Key {
        self.list = true;
        self.need = default.map_or(Need::Required, |shown| Need::Default(format!("[{shown}]")));
        self
    }

    /// The same key, which chooses from `names`.
    pub(crate) fn choosing<'a>(mut self, names: impl Iterator<Item = (&'a str, &'a str)>) -> Key {
        self.choices = names.map(|(name, doc)| (name.to_string(), doc.to_string())).collect();
        self
    }
}

/// A value that `spec` admits, for a required key of which nothing is written.
pub(crate) fn example<T: Clone + PartialOrd>(kind: &ValueType<T>, spec: &Spec<T>) -> T {
    let of = [&spec.default, &spec.typical, &spec.min, &Some(kind.example.clone()), &spec.max, &kind.ceiling];
    let legal = of.into_iter().flatten().find(|value| spec.admits(value));
    legal.unwrap_or(&kind.example).clone()
}
