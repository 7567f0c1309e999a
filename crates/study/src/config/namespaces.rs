//! Namespaces: the tables `[[namespace]]`, each over the section `[ftl]`.

use interpulse_drive::spec::{FtlSpec, MOST_NAMESPACES, NamespaceSpec};
use interpulse_settings::{ConfigError, Document};

/// Name of the array of tables.
const TABLES: &str = "namespace";

/// The document in which each namespace has the values of `[ftl]` for the keys that it leaves out, as far as its family has
/// them.
pub(super) fn layered(mut document: Document) -> Result<Document, ConfigError> {
    if !document.has(TABLES) {
        return Ok(document);
    }
    let doc = "FTL family, for the keys of [ftl]";
    let probe = Document::clone(&document);
    let of_drive = probe.section("ftl")?.label(FtlSpec::FAMILY, doc)?;
    for (k, mut section) in probe.tables(TABLES)?.into_iter().enumerate() {
        let family = section.label(FtlSpec::FAMILY, doc)?.or_else(|| of_drive.clone());
        let other = FtlSpec::keys_of_other_families(family.as_deref());
        // The first part of a path below the section: a key, or a section of keys.
        let names = other.iter().filter_map(|path| path.split('.').nth(1));
        let without: Vec<&str> = names.chain(FtlSpec::DRIVE_WIDE.iter().copied()).collect();
        document = document.with_entry_over(TABLES, k, "ftl", &without)?;
    }
    Ok(document)
}

/// Reads the namespaces of a drive with the section `ftl`.
pub(super) fn read(document: &Document, ftl: &FtlSpec) -> Result<Vec<NamespaceSpec>, ConfigError> {
    let sections = document.tables(TABLES)?;
    if sections.len() > MOST_NAMESPACES {
        let most = format!("at most {MOST_NAMESPACES} [[{TABLES}]] tables");
        return Err(document.top().invalid(TABLES, most));
    }
    sections.into_iter().map(|section| NamespaceSpec::read(&mut section.shaping_state(), ftl)).collect()
}
