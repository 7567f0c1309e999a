//! Capacity: computes the number of blocks per plane.

use super::{drive, drive_keys};
use interpulse_drive::spec::Wanted;
use interpulse_settings::{ConfigError, Document, Origin, optional};
use std::path::Path;

/// Sets `part.blocks-per-plane` from the capacity in `[drive]`, replacing the value of a preset or part file;
/// unchanged without a capacity.
///
/// Fails if the configuration file `config` or a `--set` states both, or if no number of blocks gives the capacity.
pub(super) fn sized(document: Document, config: &str, folder: &Path) -> Result<Document, ConfigError> {
    let asked = document.clone().over(Document::empty())?;
    let (key, wanted) = match drive_keys::read(&asked)? {
        (None, None) => return Ok(document),
        (Some(usable), None) => ("capacity", Wanted::Usable(usable)),
        (None, Some(raw)) => ("raw-capacity", Wanted::Raw(raw)),
        (Some(_), Some(_)) => {
            let why = both(&asked, "drive.capacity", "drive.raw-capacity");
            return Err(asked.section("drive")?.conflict(&["capacity", "raw-capacity"], why));
        }
    };
    let path = format!("drive.{key}");
    let blocks = "part.blocks-per-plane";
    let explicit = match asked.origin(blocks) {
        Some(Origin::File { file, .. }) => **file == *config,
        Some(Origin::Set) => true,
        _ => false,
    };
    if explicit {
        let why = format!("either says how large the drive is: {}", both(&asked, &path, blocks));
        // Read only so that the message can show the value.
        asked.section("part")?.u32("blocks-per-plane", "", optional())?;
        return Err(ConfigError::conflict(&asked.resolution(), &[&path, blocks], why));
    }
    // Any number of blocks works for the search.
    let any = asked.with_derived("part", "blocks-per-plane", 1024, &path);
    // Other errors appear when the whole configuration is read.
    let Ok(spec) = drive::read(&any, folder) else { return Ok(any) };
    let found = spec.blocks_for(wanted).map_err(|why| {
        let section = document.section("drive");
        section.map_or_else(|error| error, |section| section.invalid(key, why))
    })?;
    let again = document.over(Document::empty())?;
    drive_keys::read(&again)?;
    let found = found.div_ceil(spec.part.sub_blocks.count);
    Ok(again.with_derived("part", "blocks-per-plane", found, &path))
}

/// Names two conflicting keys with their origins.
fn both(document: &Document, one: &str, other: &str) -> String {
    let at = |key: &str| document.origin(key).map_or_else(String::new, |origin| format!(" of {origin}"));
    format!("leave out {one}{} or {other}{}", at(one), at(other))
}
