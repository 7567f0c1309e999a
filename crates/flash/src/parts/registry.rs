//! Built-in part presets: one line each; figures and sources are in `presets/*.toml`.

use super::interface;
use interpulse_settings::{ConfigError, Document, PresetKind};

/// Documentation of `part.preset`.
pub(super) const PRESET_DOC: &str = "part preset on which this part is based";

/// A built-in part preset.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name in `part.preset`.
    pub name: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// TOML texts, upper layers first.
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
    "ressd-mlc": "the die of ressd-tlc with two bits per cell", ["ressd-mlc.toml", "ressd.toml", "power-mlc.toml", "power.toml"];
    "starblaze-slc2d-typ": "planar SLC of Starblaze's table, typical times", ["starblaze-slc2d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-slc2d-max": "planar SLC of Starblaze's table, maximum times", ["starblaze-slc2d-max.toml", "starblaze-slc2d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-mlc2d-typ": "planar MLC of Starblaze's table, typical times", ["starblaze-mlc2d-typ.toml", "starblaze.toml", "power-mlc.toml", "power.toml"];
    "starblaze-mlc2d-max": "planar MLC of Starblaze's table, maximum times", ["starblaze-mlc2d-max.toml", "starblaze-mlc2d-typ.toml", "starblaze.toml", "power-mlc.toml", "power.toml"];
    "starblaze-slc3d-typ": "3D SLC of Starblaze's table, typical times", ["starblaze-slc3d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-slc3d-max": "3D SLC of Starblaze's table, maximum times", ["starblaze-slc3d-max.toml", "starblaze-slc3d-typ.toml", "starblaze.toml", "power-slc.toml", "power.toml"];
    "starblaze-tlc3d-typ": "3D TLC of Starblaze's table, typical times", ["starblaze-tlc3d-typ.toml", "starblaze.toml", "power-tlc.toml", "power.toml"];
    "starblaze-tlc3d-max": "3D TLC of Starblaze's table, maximum times", ["starblaze-tlc3d-max.toml", "starblaze-tlc3d-typ.toml", "starblaze.toml", "power-tlc.toml", "power.toml"];
    "toshiba-96l-tlc": "512 Gb 3D TLC of 96 layers, ISSCC 2018", ["toshiba-96l-tlc.toml", "isscc.toml", "isscc-slc-mode.toml", "power-tlc.toml", "power.toml"];
    "hynix-176l-tlc": "512 Gb 3D TLC of 176 layers, ISSCC 2021", ["hynix-176l-tlc.toml", "isscc.toml", "isscc-slc-mode.toml", "power-tlc.toml", "power.toml"];
    "hynix-300l-tlc": "1 Tb 3D TLC of more than 300 layers, ISSCC 2023", ["hynix-300l-tlc.toml", "isscc.toml", "isscc-slc-mode.toml", "power-tlc.toml", "power.toml"];
    "hynix-96l-qlc": "1 Tb 3D QLC of 96 layers, ISSCC 2020", ["hynix-96l-qlc.toml", "isscc.toml", "isscc-slc-mode.toml", "power-qlc.toml", "power-tlc.toml", "power.toml"];
    "intel-144l-qlc": "1 Tb 3D QLC of 144 layers, ISSCC 2021", ["intel-144l-qlc.toml", "isscc.toml", "isscc-slc-mode.toml", "power-qlc.toml", "power-tlc.toml", "power.toml"];
    "samsung-48l-slc": "64 Gb low-latency SLC of 48 layers (Z-NAND), ISSCC 2018", ["samsung-48l-slc.toml", "isscc.toml", "power-slc.toml", "power.toml"];
}

/// All part presets.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// Names of all part presets.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// The preset `name` as a configuration layer with the section `[part]`. Fails on an unknown name and lists all names.
pub fn preset(name: &str) -> Result<Document, ConfigError> {
    ConfigError::named("part.preset", name, PRESETS.iter().map(|preset| (preset.name, preset)))?.document()
}

/// Layers `document` over its `part.preset` and its `part.interface`, if any. Fails on an unknown name with its line, and on
/// a rate that the interface does not have.
pub fn layered(document: Document) -> Result<Document, ConfigError> {
    let options: Vec<_> = PRESETS.iter().map(|preset| (preset.name, preset, preset.doc)).collect();
    let preset = document.section("part")?.optional_choice("preset", PRESET_DOC, &options)?;
    interface::applied(match preset {
        Some(preset) => document.over(preset.document()?)?,
        None => document,
    })
}

impl Preset {
    fn document(&self) -> Result<Document, ConfigError> {
        let named =
            format!("[part]\npreset = {{ value = \"{}\", source = \"interpulse: its name\" }}\n", self.name);
        let layer = |text: &str| Document::preset(text, PresetKind::Part, self.name);
        self.layers.iter().try_fold(layer(&named)?, |upper, text| upper.over(layer(text)?))
    }
}
