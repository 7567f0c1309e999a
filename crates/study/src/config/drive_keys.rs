//! Section `[drive]`: preset and capacity.

use interpulse_drive::spec::{Family, FtlSpec};
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Document, optional};

/// Documentation of `drive.preset`.
pub(super) const PRESET: &str =
    "drive preset this configuration is based on; `drive = \"...\"` above the first section is short for it";

/// The requested usable and raw capacity.
pub(super) fn read(document: &Document) -> Result<(Option<Bytes>, Option<Bytes>), ConfigError> {
    let mut s = document.section("drive")?.shaping_state();
    let size = optional().at_least(Bytes::mib(1));
    let usable = s.optional_bytes(
        "capacity",
        "what the host sees of a drive, as it is sold: chooses part.blocks-per-plane for the over-provisioning asked for",
        size,
    )?;
    let raw = s.not_shaping_state().optional_bytes(
        "raw-capacity",
        "all pages of a drive, over-provisioning and bad-block reserve included: chooses part.blocks-per-plane, to 1 %",
        size,
    )?;
    Ok((usable, raw))
}

/// A drive preset for the FTL family that `document` chooses: without keys of another family.
pub(super) fn of_family(document: &Document, preset: Document) -> Result<Document, ConfigError> {
    let doc = "FTL family, for the keys of a preset";
    let family = Document::clone(document).section("ftl")?.label(FtlSpec::FAMILY, doc)?;
    let is_other = family.is_some_and(|family| family != Family::Page.name());
    let keys = if is_other { FtlSpec::page_keys() } else { Vec::new() };
    Ok(keys.iter().fold(preset, |preset, key| preset.without(key)))
}
