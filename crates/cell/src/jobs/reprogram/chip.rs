//! Chip for the reprogram jobs: cell coefficients, layers and read offsets.

use crate::background_pattern::Pattern;
use crate::coefficients::{self, Coefficients};
use crate::interference::Coupling;
use crate::kernel::{even, hash};
use crate::preset_values::PresetValues;
use crate::retention::Leakiness;
use interpulse_engine::random::mix;
use interpulse_flash::parts::{self, PartSpec};
use interpulse_settings::{ConfigError, Document, keys, required};

/// Purpose of the key of layer offsets.
const LAYER: u64 = 0x2010;

keys! {
    /// A 3D TLC chip.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Chip, fn read(s, coefficients: Coefficients, interference: Coupling, background: Pattern) {
        /// Program, erased state and sensing.
        pub cells: Coefficients => coefficients,
        /// Cell-to-cell interference.
        pub coupling: Coupling => interference,
        /// Background-pattern dependency.
        pub pattern: Pattern => background,
        /// layers of a block
        pub layers: u32 = u32(required().within(1..=512)),
        /// word lines of a layer
        pub word_lines: u32 = u32(required().within(1..=64)),
        /// offset of cells from the default read levels, in steps
        pub offset: f32 = number(-60.0, 60.0),
        /// largest deviation of layers from that offset, in steps
        pub layer_spread: f32 = number(0.0, 30.0),
        /// share of cells that are slow to program
        pub slow_share: f32 = share(),
        /// lag of slow cells, in steps
        pub slow_by: f32 = number(0.0, 400.0),
        /// relative read noise of other chips of the type
        pub other_noise: f32 = number(0.1, 10.0),
        /// relative charge loss of other chips
        pub other_retention: f32 = number(0.0, 10.0),
        /// read noise variance added per thousand P/E cycles, in square steps
        pub noise_per_kilocycle: f32 = number(0.0, 1000.0),
        /// Whether this is another chip of the type.
        pub other: bool => false,
    }
}

/// Chip presets.
const PRESETS: &[(&str, &str)] = &[("b17a-tlc", include_str!("../../presets/b17a-tlc.toml"))];

impl Chip {
    /// The preset `name` as a configuration layer. Fails on an unknown name and lists all names.
    pub fn document(name: &str) -> Result<Document, ConfigError> {
        let (name, text) = ConfigError::named("chip preset", name, PRESETS.iter().map(|of| (of.0, *of)))?;
        coefficients::over_aging(name, &[text])
    }

    /// Whether the preset `name` exists.
    pub fn is_known(name: &str) -> bool {
        PRESETS.iter().any(|(known, _)| *known == name)
    }

    /// The preset `name` under `overrides`. Fails on unknown names and keys and on values out of range.
    pub fn resolve(name: &str, overrides: Document) -> Result<Chip, ConfigError> {
        let document = parts::layered(overrides.over(Chip::document(name)?)?)?;
        let mut cell = document.section("cell")?;
        let cells = Coefficients::read(&mut cell)?;
        let mut section = document.section("part")?;
        let bits = PartSpec::read(&mut section)?.bits_per_cell;
        section.check(bits == 3, "bits-per-cell", "3: the cell model supports TLC word lines only")?;
        let coupling = Coupling::read(&mut cell.section("interference")?)?;
        let pattern = Pattern::read(&mut cell.section("pattern")?, cells.erased.mean)?;
        let chip = Chip::read(&mut cell.section("chip")?, cells, coupling, pattern)?;
        document.finish()?;
        Ok(chip)
    }

    /// The chip after `cycles` P/E cycles; with `other`, another chip of the type.
    pub fn aged(mut self, cycles: f64, other: bool) -> Chip {
        self.cells = self.cells.worn(cycles);
        let noise = self.cells.read.noise * if other { self.other_noise } else { 1.0 };
        let grown = (cycles / 1000.0) as f32 * self.noise_per_kilocycle;
        self.cells.read.noise = libm::sqrtf(noise * noise + grown);
        self.other = other;
        self
    }

    /// Leakiness of the chip after `cycles` P/E cycles.
    pub fn leakiness(&self, cycles: f64) -> Leakiness {
        self.cells.wear.leakiness(cycles).times(if self.other { self.other_retention } else { 1.0 })
    }

    /// Offset of the cells of a layer from the default read levels, in steps.
    pub fn layer_offset(&self, seed: u64, layer: u32) -> f32 {
        let bits = hash(mix(seed ^ mix(LAYER)) as u32, layer);
        self.offset + self.layer_spread * even(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_settings::PresetKind;

    #[test]
    fn every_preset_reads_and_cites() {
        for &(name, text) in PRESETS {
            Chip::resolve(name, Document::empty()).expect("an embedded preset is right");
            let uncited = Document::preset(text, PresetKind::Cells, name).expect("it parses").uncited();
            assert!(uncited.is_empty(), "{name}: no source on {uncited:?}");
        }
    }

    #[test]
    fn errors_name_the_key_and_legal_values() {
        let message = |key: &str, value: &str| {
            let set = Document::set(key, value).expect("it parses");
            Chip::resolve("b17a-tlc", set).expect_err("it is wrong").to_string()
        };
        for (key, value, parts) in [
            ("cell.interference.along", "0.7", ["cell.interference.along", "0.5"]),
            ("cell.pattern.pas", "700.0", ["cell.pattern.pas", "pass"]),
            ("cell.chip.slow-share", "2.0", ["cell.chip.slow-share", "1"]),
        ] {
            let message = message(key, value);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
        assert!(
            Chip::resolve("b18a", Document::empty()).expect_err("unknown").to_string().contains("b17a-tlc")
        );
    }

    #[test]
    fn layer_offsets_are_uniform_within_their_spread() {
        let chip = Chip::resolve("b17a-tlc", Document::empty()).expect("it is embedded");
        let off: Vec<f32> = (0..4096).map(|layer| chip.layer_offset(1, layer) - chip.offset).collect();
        let mean = off.iter().sum::<f32>() / 4096.0;
        assert!(off.iter().all(|x| x.abs() <= chip.layer_spread * 1.001));
        // Five standard errors of a uniform distribution.
        assert!(mean.abs() < 5.0 * chip.layer_spread / 3f32.sqrt() / 64.0, "{mean}");
        assert_ne!(chip.layer_offset(1, 0), chip.layer_offset(2, 0));
    }
}
