//! Readers of texts and of named choices.

use super::Section;
use crate::error::{ConfigError, Problem, did_you_mean, one_of};
use crate::kinds::{self, Kind};
use crate::origin::{Origin, Place};
use crate::spec::{Spec, optional, required};
use crate::tree::join;
use crate::value::{Value, escape, quoted};

impl Section {
    /// Reads a text; required if `default` is `None`.
    pub fn string(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
    ) -> Result<String, ConfigError> {
        let spec = Spec { default: default.map(str::to_string), ..required() };
        self.required(&kinds::STRING, key, doc, spec)
    }

    /// Reads a text that may be left out.
    pub fn optional_string(&mut self, key: &str, doc: &'static str) -> Result<Option<String>, ConfigError> {
        self.optional(&kinds::STRING, key, doc, optional())
    }

    /// Reads a list of texts; required if `default` is `None`.
    pub fn list_string(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&[&str]>,
    ) -> Result<Vec<String>, ConfigError> {
        let default: Option<Vec<String>> = default.map(|all| all.iter().map(|s| s.to_string()).collect());
        let quoting: Kind<String> =
            Kind { canonical: |text: &String| format!("\"{}\"", escape(text)), ..kinds::STRING };
        self.list(&quoting, key, doc, default.as_deref(), required())
    }

    /// Reads a text that names something and changes no result: shown, but never part of a hash.
    pub fn label(&mut self, key: &str, doc: &'static str) -> Result<Option<String>, ConfigError> {
        let value = self.find(&kinds::STRING, key, &optional())?;
        self.record(&kinds::STRING, key, doc, value.as_ref(), false);
        Ok(value)
    }

    /// Reads a text that stands for something written elsewhere, such as the name of a file. `meaning` takes
    /// the text and where it was written; it gives what the text stands for, and a canonical form of it, which
    /// enters the hash while the text itself is shown.
    ///
    /// Fails where the text is missing without a default, and as `meaning` does.
    pub fn reference<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        meaning: impl FnOnce(&Section, &str, &Origin) -> Result<(T, String), ConfigError>,
    ) -> Result<T, ConfigError> {
        let written = self.find(&kinds::STRING, key, &optional())?;
        let Some(text) = written.or_else(|| default.map(str::to_string)) else {
            return Err(self.missing(key, kinds::STRING.noun.to_string()));
        };
        let origin = self.table.entries.get(key).map_or(Origin::Default, |node| node.origin().clone());
        let (value, canonical) = meaning(self, &text, &origin)?;
        self.write(key, doc, canonical, "", text, true);
        Ok(value)
    }

    /// Reads one of the named `options`; required if `default` is `None`.
    ///
    /// Panics if `default` is not among the options, which is a mistake in the program.
    pub fn choice<T: Clone>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        options: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        match (self.find_choice(key, options)?, default) {
            (Some((name, value)), _) => {
                self.record(&kinds::STRING, key, doc, Some(&name.to_string()), true);
                Ok(value)
            }
            (None, Some(default)) => {
                self.record(&kinds::STRING, key, doc, Some(&default.to_string()), true);
                let found = options.iter().find(|(name, _)| *name == default);
                let (_, value) = found.unwrap_or_else(|| panic!("{key}: default {default} is no option"));
                Ok(value.clone())
            }
            (None, None) => Err(self.missing(key, one_of(options.iter().map(|(name, _)| *name)))),
        }
    }

    /// Reads one of the named `options` that may be left out.
    pub fn optional_choice<T: Clone>(
        &mut self,
        key: &str,
        doc: &'static str,
        options: &[(&str, T)],
    ) -> Result<Option<T>, ConfigError> {
        let found = self.find_choice(key, options)?;
        self.record(
            &kinds::STRING,
            key,
            doc,
            found.as_ref().map(|(name, _)| name.to_string()).as_ref(),
            true,
        );
        Ok(found.map(|(_, value)| value))
    }

    /// Reads a list of named `options`; required if `default` is `None`.
    ///
    /// Panics if an entry of `default` is not among the options, which is a mistake in the program.
    pub fn list_choice<T: Clone>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&[&str]>,
        options: &[(&str, T)],
    ) -> Result<Vec<T>, ConfigError> {
        let written = self.leaf(key, "a list")?.map(|leaf| (leaf.value.clone(), leaf.origin.place()));
        let mut names = Vec::new();
        let mut values = Vec::new();
        match (written, default) {
            (Some((value, place)), _) => {
                let Value::List(items) = &value else { return Err(self.not_a_list(key, &value, place)) };
                for item in items {
                    let (name, value) = self.pick(key, item, place.clone(), options)?;
                    names.push(name);
                    values.push(value);
                }
            }
            (None, Some(default)) => {
                for name in default {
                    let found = options.iter().find(|(option, _)| option == name);
                    let (name, value) = found.unwrap_or_else(|| panic!("{key}: default {name} is no option"));
                    names.push(*name);
                    values.push(value.clone());
                }
            }
            (None, None) => {
                let options = one_of(options.iter().map(|(name, _)| *name));
                return Err(self.missing(key, format!("a list, each entry {options}")));
            }
        }
        let joined = names.join(",");
        self.write(key, doc, joined.clone(), "", format!("[{}]", names.join(", ")), true);
        Ok(values)
    }

    fn find_choice<'o, T: Clone>(
        &self,
        key: &str,
        options: &[(&'o str, T)],
    ) -> Result<Option<(&'o str, T)>, ConfigError> {
        let expected = one_of(options.iter().map(|(name, _)| *name));
        match self.leaf(key, &expected)? {
            Some(leaf) => self.pick(key, &leaf.value, leaf.origin.place(), options).map(Some),
            None => Ok(None),
        }
    }

    fn pick<'o, T: Clone>(
        &self,
        key: &str,
        value: &Value,
        place: Place,
        options: &[(&'o str, T)],
    ) -> Result<(&'o str, T), ConfigError> {
        let names = || options.iter().map(|(name, _)| *name);
        if let Value::String(text) = value {
            if let Some((name, value)) = options.iter().find(|(name, _)| name == text) {
                return Ok((name, value.clone()));
            }
            let (seen, hint) = (quoted(text), did_you_mean(text, names()));
            let path = join(&self.path, key);
            return Err(ConfigError::new(Problem::Value, place, path, seen, one_of(names())).hinting(hint));
        }
        let path = join(&self.path, key);
        Err(ConfigError::new(Problem::Value, place, path, value.describe(), one_of(names())))
    }
}
