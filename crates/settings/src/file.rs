//! Configuration files that another configuration names.

use crate::document::Document;
use crate::error::ConfigError;
use crate::section::Section;
use std::path::Path;

/// Why a file holds nothing that can be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// Its content cannot be used.
    #[error("{0}")]
    Content(#[from] ConfigError),
}

impl FileError {
    /// As a mistake of `key`, which names a file with something: `expected`.
    pub fn of_key(self, section: &Section, key: &str, expected: &str) -> ConfigError {
        match self {
            FileError::Content(error) => error,
            FileError::Unreadable(why) => section.invalid(key, format!("{expected}; {why}")),
        }
    }
}

impl Document {
    /// The content of the file at `path`, of at most `most_mib` MiB so that a mistaken name does not fill the memory; `what`
    /// precedes the name in messages.
    pub fn in_file(path: &Path, what: &str, most_mib: u64) -> Result<Document, FileError> {
        let shown = path.display().to_string();
        let unreadable = |why: String| FileError::Unreadable(format!("{what}{shown}: {why}"));
        let about = std::fs::metadata(path).map_err(|e| unreadable(format!("cannot be opened: {e}")))?;
        if !about.is_file() || about.len() > most_mib << 20 {
            return Err(unreadable(format!("is not a regular file of at most {most_mib} MiB")));
        }
        let bytes = std::fs::read(path).map_err(|e| unreadable(format!("cannot be read: {e}")))?;
        Ok(Document::from_bytes(&bytes, &shown)?)
    }
}
