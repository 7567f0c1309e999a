//! The part presets that come with the program. One line each; the figures and their sources stand in
//! `presets/*.toml`.

use interpulse_settings::{ConfigError, Document, PresetKind};

/// What `part.preset` is, for whoever reads it.
pub(super) const PRESET: &str = "name of the part preset this part is based on";

/// An embedded part preset.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name, as `part.preset` takes it.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its text, in layers: each lies over the ones after it.
    layers: &'static [&'static str],
}

/// Declares the presets: name, documentation, files (upper layer first).
macro_rules! presets {
    ($($name:literal: $doc:literal, [$($file:literal),+];)+) => {
        const PRESETS: &[Preset] = &[$(
            Preset { name: $name, doc: $doc, layers: &[$(include_str!(concat!("presets/", $file))),+] },
        )+];
    };
}

presets! {
    "a4-tlc": "3D TLC die of Zambelli et al. 2021, program suspension", ["a4-tlc.toml", "power-tlc.toml", "power.toml"];
    "atc19-ll": "low-latency SLC-like die of Kim et al. ATC'19, erase in 1 ms steps", ["atc19-ll.toml", "power-slc.toml", "power.toml"];
    "fast12-slc": "planar SLC of Wu & He FAST'12, one long erase pulse", ["fast12-slc.toml", "fast12.toml", "power-slc.toml", "power.toml"];
    "fast12-mlc": "planar MLC of Wu & He FAST'12, one long erase pulse", ["fast12-mlc.toml", "fast12.toml", "power-mlc.toml", "power.toml"];
    "ressd-tlc": "3D TLC die of Gao et al. MICRO'19, reprogramming", ["ressd-tlc.toml", "ressd.toml", "power-tlc.toml", "power.toml"];
    "ressd-mlc": "the die of ressd-tlc with two bits in every cell", ["ressd-mlc.toml", "ressd.toml", "power-mlc.toml", "power.toml"];
    "starblaze-slc2d-typ": "planar SLC of Starblaze's table, typical times", ["starblaze-slc2d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-slc2d-max": "planar SLC of Starblaze's table, maximum times", ["starblaze-slc2d-max.toml", "starblaze-slc2d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-mlc2d-typ": "planar MLC of Starblaze's table, typical times", ["starblaze-mlc2d-typ.toml", "starblaze.toml", "power-mlc.toml", "power.toml"];
    "starblaze-mlc2d-max": "planar MLC of Starblaze's table, maximum times", ["starblaze-mlc2d-max.toml", "starblaze-mlc2d-typ.toml", "starblaze.toml", "power-mlc.toml", "power.toml"];
    "starblaze-slc3d-typ": "3D SLC of Starblaze's table, typical times", ["starblaze-slc3d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-slc3d-max": "3D SLC of Starblaze's table, maximum times", ["starblaze-slc3d-max.toml", "starblaze-slc3d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-tlc3d-typ": "3D TLC of Starblaze's table, typical times", ["starblaze-tlc3d-typ.toml", "starblaze.toml", "power-tlc.toml", "power.toml"];
    "starblaze-tlc3d-max": "3D TLC of Starblaze's table, maximum times", ["starblaze-tlc3d-max.toml", "starblaze-tlc3d-typ.toml", "starblaze.toml", "power-tlc.toml", "power.toml"];
}

/// All part presets.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// Names of all part presets.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// The preset called `name` as a configuration layer with the section `[part]`.
///
/// Fails on an unknown name, listing the known ones.
pub fn preset(name: &str) -> Result<Document, ConfigError> {
    ConfigError::named("part.preset", name, PRESETS.iter().map(|preset| (preset.name, preset)))?.document()
}

/// Lays `document` over the part preset that its `part.preset` names; unchanged if it names none.
///
/// Fails on an unknown name, pointing at the line that gives it.
pub fn layered(document: Document) -> Result<Document, ConfigError> {
    let options: Vec<_> = PRESETS.iter().map(|preset| (preset.name, preset, preset.doc)).collect();
    match document.section("part")?.optional_choice("preset", PRESET, &options)? {
        Some(preset) => document.over(preset.document()?),
        None => Ok(document),
    }
}

impl Preset {
    fn document(&self) -> Result<Document, ConfigError> {
        let named =
            format!("[part]\npreset = {{ value = \"{}\", source = \"interpulse: its name\" }}\n", self.name);
        let layer = |text: &str| Document::preset(text, PresetKind::Part, self.name);
        self.layers.iter().try_fold(layer(&named)?, |upper, text| upper.over(layer(text)?))
    }
}
