//! Scheduled formats: the tables `[[format]]`.

use interpulse_drive::spec::FormatSpec;
use interpulse_settings::{ConfigError, Document};

/// Most scheduled formats of a case.
const MOST: usize = 256;

/// Reads the formats of a drive with so many namespaces, or without any.
pub(super) fn read(document: &Document, namespaces: u32) -> Result<Vec<FormatSpec>, ConfigError> {
    let tables = document.tables("format")?;
    if tables.len() > MOST {
        return Err(document.top().invalid("format", format!("at most {MOST} [[format]] tables")));
    }
    tables.into_iter().map(|mut section| FormatSpec::read(&mut section, namespaces)).collect()
}
