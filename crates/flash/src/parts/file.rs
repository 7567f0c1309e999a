//! Part files, such as the files that `interpulse characterize` writes.

use interpulse_settings::{ConfigError, Document, Origin};
use std::path::Path;

/// Documentation of `part.file`.
pub const FILE_DOC: &str = "TOML file with a section [part], as written by `interpulse part new` and `interpulse characterize`, \
     layered below this configuration; without a preset it must be complete and replaces the part of a drive preset";

/// Layers `document` over its `part.file`, if any. A path in a configuration file is relative to `folder`, a path of a
/// `--set` to the working folder.
///
/// Fails if the file cannot be read or has sections other than `[part]`; its unknown keys are left to the reader.
pub fn with_file(document: Document, folder: &Path) -> Result<Document, ConfigError> {
    let mut section = document.section("part")?;
    let Some(name) = section.label("file", FILE_DOC)? else { return Ok(document) };
    let resolution = document.resolution();
    let in_file = resolution.entry("part.file").is_some_and(|e| matches!(e.origin, Origin::File { .. }));
    let path = if in_file { folder.join(name) } else { name.into() };
    let expected = "a file with a section [part]";
    let layer = Document::in_file(&path, "", 1).map_err(|error| error.of_key(&section, "file", expected))?;
    layer.only("part")?;
    if !layer.has("part") {
        return Err(section.invalid("file", format!("{expected}; {}: has none", path.display())));
    }
    layer.section("part")?.refuse("file", "a part file cannot name another")?;
    document.completed_by(layer, "part")
}
