//! The number of blocks that a capacity takes.

use super::{drive, drive_keys};
use interpulse_drive::spec::Wanted;
use interpulse_settings::{ConfigError, Document, Origin, optional};
use std::path::Path;

/// Puts the number of blocks that the capacity of `[drive]` takes into `[part]`, in place of what a preset or a part file
/// states; unchanged where no capacity is asked for.
///
/// Fails where the configuration itself, the file called `config` or a `--set`, states both, and where such a capacity
/// cannot be had.
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
        // Read, so that the message can show it; what it is does not matter here.
        asked.section("part")?.u32("blocks-per-plane", "", optional())?;
        return Err(ConfigError::conflict(&asked.resolution(), &[&path, blocks], why));
    }
    // Any number of blocks will do to find the right one.
    let any = asked.concluding("part", "blocks-per-plane", 1024, &path);
    // What else is wrong is found again where the whole configuration is read.
    let Ok(spec) = drive::read(&any, folder) else { return Ok(any) };
    let found = spec.blocks_for(wanted).map_err(|why| {
        let section = document.section("drive");
        section.map_or_else(|error| error, |section| section.invalid(key, why))
    })?;
    let again = document.over(Document::empty())?;
    drive_keys::read(&again)?;
    Ok(again.concluding("part", "blocks-per-plane", found, &path))
}

/// Two keys of which one has to go, with where each stands.
fn both(document: &Document, one: &str, other: &str) -> String {
    let at = |key: &str| document.origin(key).map_or_else(String::new, |origin| format!(" of {origin}"));
    format!("leave out {one}{} or {other}{}", at(one), at(other))
}
