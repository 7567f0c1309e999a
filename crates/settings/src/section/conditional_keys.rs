//! Conditional keys: keys of registry rows, and keys that apply only with an option.
//!
//! The reader names the condition once. Variants that are not chosen are read too, from an empty section: the keys that
//! they read there are refused here and listed by [`Document::keys`].
//!
//! [`Document::keys`]: crate::Document::keys

use super::Section;
use crate::error::ConfigError;
use crate::origin::Origin;
use crate::read_tracking::ReadTracker;
use crate::tree::Table;
use std::sync::Arc;

/// One row of a registry: a policy with its own keys.
pub struct Row<T> {
    /// Its name in a configuration.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Reads the policy's keys. Reads all of them before it checks any against another.
    pub read: fn(&mut Section) -> Result<T, ConfigError>,
}

impl<T> Row<T> {
    /// The policy with its keys at their defaults, and at any legal value where they have none.
    ///
    /// Panics if its reader accepts neither, which is a mistake in the program.
    pub fn example(&self) -> T {
        let nothing = crate::Document::empty().declaring();
        (self.read)(&mut nothing.top()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// The condition of a variant's keys, and their reader.
pub type Variant<'a, T> = (String, &'a dyn Fn(&mut Section) -> Result<T, ConfigError>);

impl Section {
    /// Reads the name of a row of the registry `rows` and the row's keys; refuses the keys of other rows.
    ///
    /// Panics if `default` is not among the rows, which is a mistake in the program.
    pub fn policy<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        rows: &[Row<T>],
    ) -> Result<T, ConfigError> {
        let chosen = self.policy_index(key, doc, default, rows)?;
        self.policy_keys(key, chosen, rows)
    }

    /// Reads the name of a row of the registry `rows`; [`Section::policy_keys`] reads the row's keys.
    pub fn policy_index<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        rows: &[Row<T>],
    ) -> Result<usize, ConfigError> {
        let options: Vec<_> = rows.iter().enumerate().map(|(k, row)| (row.name, k, row.doc)).collect();
        self.choice(key, doc, default, &options)
    }

    /// Reads the keys of the row `chosen`, which `key` names; refuses the keys of other rows.
    pub fn policy_keys<T>(&mut self, key: &str, chosen: usize, rows: &[Row<T>]) -> Result<T, ConfigError> {
        let variants: Vec<Variant<T>> =
            rows.iter().map(|row| (format!("{key} = \"{}\"", row.name), &row.read as _)).collect();
        self.read_variant(chosen, &variants)
    }

    /// Reads the keys of the variant `chosen`; refuses keys that only other variants read, with their conditions.
    pub fn read_variant<T>(&mut self, chosen: usize, variants: &[Variant<T>]) -> Result<T, ConfigError> {
        if self.reading.declares() {
            let mut result = None;
            for (k, (belongs, read)) in variants.iter().enumerate() {
                if k == chosen {
                    result = Some(read(&mut self.belonging(belongs)));
                } else {
                    self.declare_unchosen(belongs, read);
                }
            }
            return result.expect("the chosen variant is one of the variants");
        }
        let own = self.asked(variants[chosen].1);
        let mut others: Vec<(String, Vec<&str>)> = Vec::new();
        for (_, (belongs, read)) in variants.iter().enumerate().filter(|&(k, _)| k != chosen) {
            for name in self.asked(read).into_iter().filter(|name| !own.contains(name)) {
                match others.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, of)) => of.push(belongs),
                    None => others.push((name, vec![belongs])),
                }
            }
        }
        for (name, of) in others {
            self.refuse(&name, format!("it belongs to {}", of.join(" or ")))?;
        }
        (variants[chosen].1)(self)
    }

    /// Reads keys that apply if `holds`, and otherwise refuses them; `belongs` is the condition in messages.
    pub fn when<T>(
        &mut self,
        holds: bool,
        belongs: &str,
        read: impl Fn(&mut Section) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        if holds {
            return read(&mut self.belonging(belongs)).map(Some);
        }
        if self.reading.declares() {
            self.declare_unchosen(belongs, &read);
            return Ok(None);
        }
        for name in self.asked(&read) {
            if !self.reading.allows(&self.path, &name) {
                self.refuse(&name, format!("it belongs to {belongs}"))?;
            }
        }
        Ok(None)
    }

    /// This section for optional keys with the condition `belongs`: without it a written key is refused, and results list the
    /// key as not set.
    pub fn only_if(&self, holds: bool, belongs: &str) -> Section {
        let refuses = (!holds && !self.reading.declares()).then(|| format!("it belongs to {belongs}"));
        Section { refuses, ..self.belonging(belongs) }
    }

    /// This section for keys that preconditioning reads: they enter the hash of the state.
    pub fn shaping_state(&self) -> Section {
        Section { shapes_state: true, ..self.clone() }
    }

    /// This section for keys that preconditioning does not read.
    pub fn not_shaping_state(&self) -> Section {
        Section { shapes_state: false, ..self.clone() }
    }

    fn belonging(&self, to: &str) -> Section {
        let mut section = self.clone();
        section.belongs_to.push(to.to_string());
        section
    }

    /// The same section with nothing written in it.
    fn emptied(&self) -> Section {
        Section { table: Arc::new(Table::new(Origin::Default)), ..self.clone() }
    }

    /// Declares the keys of a variant that is not chosen.
    fn declare_unchosen<T>(&self, belongs: &str, read: &dyn Fn(&mut Section) -> Result<T, ConfigError>) {
        let mut section = Section { belongs_to: self.belonging(belongs).belongs_to, ..self.emptied() };
        if let Err(error) = read(&mut section) {
            self.reading.cannot_declare(error);
        }
    }

    /// The names that `read` reads from this section.
    fn asked<T>(&self, read: &dyn Fn(&mut Section) -> Result<T, ConfigError>) -> Vec<String> {
        let reading = ReadTracker::declaring();
        let mut section = Section { reading: reading.clone(), ..self.emptied() };
        // The result for example values does not matter.
        drop(read(&mut section));
        reading.names(&self.path)
    }
}
