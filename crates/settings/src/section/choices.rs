//! Readers of texts and named choices.

use super::Section;
use crate::declaration::Key;
use crate::error::{ConfigError, Problem, did_you_mean, one_of};
use crate::origin::{Origin, Place};
use crate::spec::{Spec, optional, required};
use crate::tree::{Leaf, join};
use crate::value::{Value, escape, quoted};
use crate::value_types::{self, ValueType};

impl Section {
    /// Reads a text; required if `default` is `None`.
    pub fn string(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
    ) -> Result<String, ConfigError> {
        let spec = Spec { default: default.map(str::to_string), ..required() };
        self.required(&value_types::STRING, key, doc, spec)
    }

    /// Reads a name, one short line that is shown as it is; required if `default` is `None`.
    pub fn name(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
    ) -> Result<String, ConfigError> {
        let spec = Spec { default: default.map(str::to_string), ..required() };
        self.required(&value_types::NAME, key, doc, spec)
    }

    /// Reads a name that may be left out.
    pub fn optional_name(&mut self, key: &str, doc: &'static str) -> Result<Option<String>, ConfigError> {
        self.optional(&value_types::NAME, key, doc, optional())
    }

    /// Reads a list of texts; required if `default` is `None`.
    pub fn list_string(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&[&str]>,
    ) -> Result<Vec<String>, ConfigError> {
        let default: Option<Vec<String>> = default.map(|all| all.iter().map(|s| s.to_string()).collect());
        let quoting: ValueType<String> =
            ValueType { canonical: |text: &String| format!("\"{}\"", escape(text)), ..value_types::STRING };
        self.list(&quoting, key, doc, default.as_deref(), required())
    }

    /// Reads a text that names something and changes no result: shown, but never part of a hash.
    pub fn label(&mut self, key: &str, doc: &'static str) -> Result<Option<String>, ConfigError> {
        self.label_of(key, doc, &[])
    }

    /// As [`Section::label`], for one of `names`, each with one line of documentation. The caller checks the name.
    pub fn label_of(
        &mut self,
        key: &str,
        doc: &'static str,
        names: &[(&str, &str)],
    ) -> Result<Option<String>, ConfigError> {
        let spec = optional();
        let declared =
            || Key::of(&value_types::STRING, &spec, doc).optional().choosing(names.iter().copied());
        let value = self.find(&value_types::STRING, key, &spec, declared)?;
        self.record(&value_types::STRING, key, doc, value.as_ref(), false);
        Ok(value)
    }

    /// Reads a text that names something defined elsewhere: one of `names`, each with one line of documentation, or
    /// the name of a file. `meaning` takes the text and where it was written; it returns the value and a
    /// canonical form of it, which enters the hash while the text itself is shown.
    ///
    /// Fails where the text is missing without a default, and as `meaning` does.
    pub fn reference<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        names: &[(&str, &str)],
        meaning: impl FnOnce(&Section, &str, &Origin) -> Result<(T, String), ConfigError>,
    ) -> Result<T, ConfigError> {
        let spec = Spec { default: default.map(str::to_string), ..required() };
        let choices = names.iter().copied().chain([("FILE.toml", "a file with one")]);
        let declared = || Key::of(&value_types::STRING, &spec, doc).choosing(choices);
        let (text, origin) = match (self.find_leaf(key, declared)?, spec.default.clone()) {
            (Some(found), _) => found,
            (None, Some(default)) => (default, Origin::Default),
            (None, None) => {
                self.miss(key, doc, None, || value_types::STRING.noun.to_string())?;
                (names[0].0.to_string(), Origin::Default)
            }
        };
        let (value, canonical) = meaning(self, &text, &origin)?;
        self.write(key, doc, canonical, "", (value_types::STRING.display)(&text), true);
        Ok(value)
    }

    /// Reads one of the named `options`, each with one line of documentation; required if `default` is `None`.
    ///
    /// Panics if `default` is not among the options, which is a mistake in the program.
    pub fn choice<N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        options: &[(N, T, D)],
    ) -> Result<T, ConfigError> {
        self.chosen(key, doc, default, None, options)
    }

    /// As [`Section::choice`] for a required key; the message for a missing key names the first option as typical.
    pub fn choice_typically_first<N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &mut self,
        key: &str,
        doc: &'static str,
        options: &[(N, T, D)],
    ) -> Result<T, ConfigError> {
        self.chosen(key, doc, None, options.first().map(|(name, ..)| name.as_ref().to_string()), options)
    }

    fn chosen<N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        typical: Option<String>,
        options: &[(N, T, D)],
    ) -> Result<T, ConfigError> {
        let declared = || choosing(doc, default, options);
        let (name, value) = match (self.find_choice(key, options, declared)?, default) {
            (Some(found), _) => found,
            (None, Some(default)) => named(key, default, options),
            (None, None) => {
                self.miss(key, doc, typical, || one_of(names(options)))?;
                (options[0].0.as_ref(), options[0].1.clone())
            }
        };
        self.record(&value_types::STRING, key, doc, Some(&name.to_string()), true);
        Ok(value)
    }

    /// Reads one of the named `options` that may be left out.
    pub fn optional_choice<N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &mut self,
        key: &str,
        doc: &'static str,
        options: &[(N, T, D)],
    ) -> Result<Option<T>, ConfigError> {
        let declared = || choosing(doc, None, options).optional();
        let found = self.find_choice(key, options, declared)?;
        let name = found.as_ref().map(|(name, _)| name.to_string());
        self.record(&value_types::STRING, key, doc, name.as_ref(), true);
        Ok(found.map(|(_, value)| value))
    }

    /// Reads a list of named `options`; required if `default` is `None`.
    ///
    /// Panics if an entry of `default` is not among the options, which is a mistake in the program.
    pub fn list_choice<N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&[&str]>,
        options: &[(N, T, D)],
    ) -> Result<Vec<T>, ConfigError> {
        let declared = || choosing(doc, None, options).listing(default.map(|names| names.join(", ")));
        let chosen = match (self.ask(key, "a list", declared)?, default) {
            (Some(Leaf { value: Value::List(items), origin }), _) => {
                let pick = |item| self.pick(key, item, origin.place(), options);
                items.iter().map(pick).collect::<Result<Vec<_>, _>>()?
            }
            (Some(leaf), _) => return Err(self.not_a_list(key, &leaf.value, leaf.origin.place())),
            (None, Some(default)) => default.iter().map(|name| named(key, name, options)).collect(),
            (None, None) => {
                self.miss(key, doc, None, || format!("a list, each entry {}", one_of(names(options))))?;
                vec![(options[0].0.as_ref(), options[0].1.clone())]
            }
        };
        let (names, values): (Vec<&str>, Vec<T>) = chosen.into_iter().unzip();
        self.write(key, doc, names.join(","), "", format!("[{}]", names.join(", ")), true);
        Ok(values)
    }

    fn find_leaf(
        &self,
        key: &str,
        declared: impl FnOnce() -> Key,
    ) -> Result<Option<(String, Origin)>, ConfigError> {
        match self.ask(key, value_types::STRING.noun, declared)? {
            Some(leaf) => {
                let text =
                    self.parse(&value_types::STRING, key, &leaf.value, &optional(), leaf.origin.place())?;
                Ok(Some((text, leaf.origin)))
            }
            None => Ok(None),
        }
    }

    fn find_choice<'o, N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &self,
        key: &str,
        options: &'o [(N, T, D)],
        declared: impl FnOnce() -> Key,
    ) -> Result<Option<(&'o str, T)>, ConfigError> {
        match self.ask(key, &one_of(names(options)), declared)? {
            Some(leaf) => self.pick(key, &leaf.value, leaf.origin.place(), options).map(Some),
            None => Ok(None),
        }
    }

    fn pick<'o, N: AsRef<str>, T: Clone, D: AsRef<str>>(
        &self,
        key: &str,
        value: &Value,
        place: Place,
        options: &'o [(N, T, D)],
    ) -> Result<(&'o str, T), ConfigError> {
        let path = join(&self.path, key);
        let Value::String(text) = value else {
            let expected = one_of(names(options));
            return Err(ConfigError::new(Problem::Value, place, path, value.describe(), expected));
        };
        let found = options.iter().find(|(name, ..)| name.as_ref() == text);
        found.map(|(name, value, _)| (name.as_ref(), value.clone())).ok_or_else(|| {
            let (seen, hint) =
                (quoted(text), did_you_mean(text, names(options)).or_else(|| also_called(text, options)));
            ConfigError::new(Problem::Value, place, path, seen, one_of(names(options))).hinting(hint)
        })
    }
}

fn names<N: AsRef<str>, T, D>(options: &[(N, T, D)]) -> impl Iterator<Item = &str> {
    options.iter().map(|(name, ..)| name.as_ref())
}

/// "that is X here" if the documentation of option X says that it is also called `text`.
fn also_called<N: AsRef<str>, T, D: AsRef<str>>(text: &str, options: &[(N, T, D)]) -> Option<String> {
    let says = |doc: &str| {
        let (_, others) = doc.split_once("also called ")?;
        others.split([' ', ',', ';', ')']).any(|name| name == text).then_some(())
    };
    let (name, ..) = options.iter().find(|(.., doc)| says(doc.as_ref()).is_some())?;
    Some(format!("that is \"{}\" here", name.as_ref()))
}

fn named<'o, N: AsRef<str>, T: Clone, D>(key: &str, name: &str, options: &'o [(N, T, D)]) -> (&'o str, T) {
    let found = options.iter().find(|(option, ..)| option.as_ref() == name);
    let (name, value, _) = found.unwrap_or_else(|| panic!("{key}: default {name} is no option"));
    (name.as_ref(), value.clone())
}

fn choosing<N: AsRef<str>, T, D: AsRef<str>>(
    doc: &'static str,
    default: Option<&str>,
    options: &[(N, T, D)],
) -> Key {
    let spec = Spec { default: default.map(str::to_string), ..required() };
    let choices = options.iter().map(|(name, _, doc)| (name.as_ref(), doc.as_ref()));
    Key::of(&value_types::STRING, &spec, doc).choosing(choices)
}
