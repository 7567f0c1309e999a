//! Parts in files of their own, such as those that a characterization of cells writes.

use interpulse_settings::{ConfigError, Document, Origin};
use std::path::Path;

/// What `part.file` is, for whoever reads it.
pub const FILE: &str = "TOML file with a section [part], such as `interpulse part new` and `interpulse characterize` write, \
     under this configuration; one that names no preset is a whole part, of which a drive preset gives nothing";

/// Lays `document` over the file that its `part.file` names; unchanged if it names none. A file that a configuration
/// file names lies in `folder`; one of a `--set` starts from the working folder.
///
/// Fails where the file cannot be read or holds anything but a part; unknown keys of the part are left to its reader.
pub fn with_file(document: Document, folder: &Path) -> Result<Document, ConfigError> {
    let mut section = document.section("part")?;
    let Some(name) = section.label("file", FILE)? else { return Ok(document) };
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
