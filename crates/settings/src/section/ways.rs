//! Keys that apply only beside others: the rows of a registry, and options that bring keys of their own.
//!
//! Whoever reads such keys says once what they belong to. A way that was not chosen is read all the same, of a section
//! in which nothing is written: what it asks for there is what is refused here, and what [`Document::keys`] lists.
//!
//! [`Document::keys`]: crate::Document::keys

use super::Section;
use crate::error::ConfigError;
use crate::origin::Origin;
use crate::reading::Reading;
use crate::tree::Table;
use std::sync::Arc;

/// One row of a registry of exchangeable things: a policy with keys of its own.
pub struct Row<T> {
    /// Its name in a configuration.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Reads its own keys. Asks for all of them before it checks any against another.
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

/// What the keys of a way belong to, and the way to read them.
pub type Way<'a, T> = (String, &'a dyn Fn(&mut Section) -> Result<T, ConfigError>);

impl Section {
    /// Reads the name of a row of the registry `rows`, and then that row's own keys; refuses those of the others.
    ///
    /// Panics if `default` is not among the rows, which is a mistake in the program.
    pub fn policy<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        rows: &[Row<T>],
    ) -> Result<T, ConfigError> {
        let chosen = self.which(key, doc, default, rows)?;
        self.row(key, chosen, rows)
    }

    /// Reads the name of a row of the registry `rows`, and none of its keys: they come with [`Section::row`].
    pub fn which<T>(
        &mut self,
        key: &str,
        doc: &'static str,
        default: Option<&str>,
        rows: &[Row<T>],
    ) -> Result<usize, ConfigError> {
        let options: Vec<_> = rows.iter().enumerate().map(|(k, row)| (row.name, k, row.doc)).collect();
        self.choice(key, doc, default, &options)
    }

    /// Reads the keys of the row `chosen`, whose name stood at `key`; refuses those of the others.
    pub fn row<T>(&mut self, key: &str, chosen: usize, rows: &[Row<T>]) -> Result<T, ConfigError> {
        let ways: Vec<Way<T>> =
            rows.iter().map(|row| (format!("{key} = \"{}\"", row.name), &row.read as _)).collect();
        self.one_way(chosen, &ways)
    }

    /// Reads on in the way `chosen` of several; keys that only others ask for are refused, with what they belong to.
    pub fn one_way<T>(&mut self, chosen: usize, ways: &[Way<T>]) -> Result<T, ConfigError> {
        if self.reading.declares() {
            let mut result = None;
            for (k, (belongs, read)) in ways.iter().enumerate() {
                if k == chosen {
                    result = Some(read(&mut self.belonging(belongs)));
                } else {
                    self.try_out(belongs, read);
                }
            }
            return result.expect("the chosen way is one of the ways");
        }
        let own = self.asked(ways[chosen].1);
        let mut others: Vec<(String, Vec<&str>)> = Vec::new();
        for (_, (belongs, read)) in ways.iter().enumerate().filter(|&(k, _)| k != chosen) {
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
        (ways[chosen].1)(self)
    }

    /// Reads keys that apply if `holds`, and else refuses them: they belong to `belongs`.
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
            self.try_out(belongs, &read);
            return Ok(None);
        }
        for name in self.asked(&read) {
            if !self.reading.allows(&self.path, &name) {
                self.refuse(&name, format!("it belongs to {belongs}"))?;
            }
        }
        Ok(None)
    }

    /// As this section, for optional keys that belong to `belongs` and are left out where it does not hold: results list
    /// them there too. What is written is then refused.
    pub fn only_if(&self, holds: bool, belongs: &str) -> Section {
        let refuses = (!holds && !self.reading.declares()).then(|| format!("it belongs to {belongs}"));
        Section { refuses, ..self.belonging(belongs) }
    }

    /// As this section, for keys that preconditioning reads: they enter the hash of the state.
    pub fn shaping_state(&self) -> Section {
        Section { shapes_state: true, ..self.clone() }
    }

    /// As this section, for keys that preconditioning does not read.
    pub fn leaving_state(&self) -> Section {
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

    /// Declares the keys of a way that is not taken.
    fn try_out<T>(&self, belongs: &str, read: &dyn Fn(&mut Section) -> Result<T, ConfigError>) {
        let mut section = Section { belongs_to: self.belonging(belongs).belongs_to, ..self.emptied() };
        if let Err(error) = read(&mut section) {
            self.reading.cannot_declare(error);
        }
    }

    /// The names that `read` asks this section for.
    fn asked<T>(&self, read: &dyn Fn(&mut Section) -> Result<T, ConfigError>) -> Vec<String> {
        let reading = Reading::declaring();
        let mut section = Section { reading: reading.clone(), ..self.emptied() };
        // What it makes of values that nobody wrote does not matter.
        drop(read(&mut section));
        reading.names(&self.path)
    }
}
