//! The chip on the tester: coefficients of its cells, its layers and its fixed thresholds.

use crate::coefficients::{Coefficients, number};
use crate::interference::Coupling;
use crate::pattern::Pattern;
use interpulse_settings::{ConfigError, Document, PresetKind, required};

/// A 3D TLC chip as far as reprogramming depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chip {
    /// Program, erased state and sensing.
    pub cells: Coefficients,
    /// Cell-to-cell interference.
    pub coupling: Coupling,
    /// Background-pattern dependency.
    pub pattern: Pattern,
    /// Layers of a block.
    pub layers: u32,
    /// Word lines of a layer.
    pub word_lines: u32,
    /// By how much the chip's cells lie above what its default read levels were made for, in steps.
    pub offset: f32,
    /// By how much more those of the outermost layers do than the average, in steps.
    pub bow: f32,
    /// Share of cells that are slower than the normal distribution of speeds makes them.
    pub slow_share: f32,
    /// By how much, in steps.
    pub slow_by: f32,
}

/// Name of the preset.
pub const PRESET: &str = "b17a-tlc";
const TEXT: &str = include_str!("../../presets/b17a-tlc.toml");

impl Chip {
    /// The preset under `overrides`. Fails on a key that there is none of and on a value out of range.
    pub fn resolve(overrides: Document) -> Result<Chip, ConfigError> {
        let document = overrides.over(Document::preset(TEXT, PresetKind::Cells, PRESET)?)?;
        let cells = Coefficients::read(&mut document.section("cell")?)?;
        let coupling = Coupling::read(&mut document.section("interference")?)?;
        let pattern = Pattern::read(&mut document.section("pattern")?, cells.erased.mean)?;
        let mut s = document.section("chip")?;
        let chip = Chip {
            cells,
            coupling,
            pattern,
            layers: s.u32("layers", "layers of a block", required().within(1..=512))?,
            word_lines: s.u32("word-lines", "word lines of a layer", required().within(1..=64))?,
            offset: number(&mut s, "offset", "how far the cells lie above the default read levels, in steps", -60.0, 60.0)?,
            bow: number(&mut s, "bow", "how much more in the outermost layers, in steps", -30.0, 30.0)?,
            slow_share: number(&mut s, "slow-share", "share of cells of the slow tail", 0.0, 0.1)?,
            slow_by: number(&mut s, "slow-by", "how much slower they are, in steps", 0.0, 200.0)?,
        };
        document.finish()?;
        Ok(chip)
    }

    /// By how much the cells of a layer lie above the default read levels: `offset` and a parabola over the stack that is zero
    /// on average and `bow` at both ends.
    pub fn layer_offset(&self, layer: u32) -> f32 {
        let x = (2 * layer + 1) as f32 / self.layers as f32 - 1.0;
        self.offset + self.bow * (1.5 * x * x - 0.5)
    }
}
