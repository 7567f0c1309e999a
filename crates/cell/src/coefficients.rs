//! Coefficients of the cell model, from a preset and overrides of the user. Every figure of a preset cites its source.

use crate::disturb::Disturb;
use crate::ispe::Ispe;
use crate::layers::Layers;
use crate::preset_values::PresetValues;
use crate::retention::Retention;
use crate::wear::Wear;
use interpulse_flash::parts::{self, PartSpec};
use interpulse_settings::{ConfigError, Document, PresetKind, keys, optional, required};

keys! {
    /// Coefficients of the cell model. Voltages are in steps.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Coefficients, pub fn read(cell) {
        /// The program pulses.
        pub ispp: Ispp => Ispp::read(&mut cell.section("ispp")?)?,
        /// The erased state.
        pub erased: Normally => Normally::read(&mut cell.section("erased")?)?,
        /// Reading.
        pub read: Read => Read::keys(&mut cell.section("read")?)?,
        /// Loss of charge during a suspension.
        pub detrapping: Detrapping => Detrapping::read(&mut cell.section("detrapping")?)?,
        /// The erase pulses.
        pub erase: Ispe => Ispe::read(&mut cell.section("erase")?)?,
        /// Loss of charge with time.
        pub retention: Retention => Retention::read(&mut cell.section("retention")?)?,
        /// Program/erase cycles.
        pub wear: Wear => Wear::read(&mut cell.section("wear")?)?,
        /// Reads of other word lines.
        pub disturb: Disturb => Disturb::read(&mut cell.section("disturb")?)?,
        /// Differences between layers.
        pub layers: Layers => Layers::read(&mut cell.section("layers")?)?,
    }
}

keys! {
    /// Incremental step pulse programming.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ispp, fn read(s) {
        /// level to which the first pulse drives an average cell, in steps
        pub start: f32 = number(-500.0, 800.0),
        /// increment of the level per pulse, in steps
        pub step: f32 = number(1.0, 200.0),
        /// share of the overdrive that a cell gains in a pulse
        pub gain: f32 = number(0.05, 1.0),
        /// standard deviation of the injection of a pulse, in steps
        pub noise: f32 = number(0.0, 100.0),
        /// standard deviation of speed between cells, in steps
        pub speed_sd: f32 = number(0.0, 200.0),
        /// standard deviation of speed between word lines, in steps
        pub word_line_sd: f32 = number(0.0, 200.0),
        /// verify levels of P1 to P7, in steps
        pub verify: [f32; 7] = levels(),
        /// lead of the fastest cell over an average cell, in steps
        pub fastest: f32 = number(0.0, 500.0),
        /// cells of a state that may stay below their verify level
        pub fails_allowed: f32 = share(),
        /// pulses after which a program fails
        pub max_loops: u32 = u32(required().within(1..=200)),
    } check {
        // The noise, a sum of four bytes, is bounded at 3.46 standard deviations.
        let most = gain * step / 3.46;
        let expected = format!("at most gain x step / 3.46 = {most}, so that no pulse moves a cell down");
        s.check(noise * 3.46 <= gain * step, "noise", expected)?;
    }
}

keys! {
    /// A normal distribution.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Normally, fn read(s) {
        /// mean of the erased state, in steps
        pub mean: f32 = number(-800.0, 200.0),
        /// standard deviation of the erased state, in steps
        pub sd: f32 = number(0.0, 300.0),
    }
}

keys! {
    /// Reading.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Read, fn keys(s) {
        /// default read levels, lowest boundary first, in steps
        pub default: [f32; 7] = levels(),
        /// standard deviation of the read noise, in steps
        // Random telegraph noise and sense amplifier.
        pub noise: f32 = number(0.0, 100.0),
    }
}

keys! {
    /// Charge loss after a pulse: `amount * ln(1 + t / after)`, proportional to the height above the erased state.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Detrapping, fn read(s) {
        /// loss of a P7 cell per e-fold of time, in steps
        pub amount: f32 = number(0.0, 50.0),
        /// onset of the loss, in us
        pub after_us: f32 = number(0.001, 1e9),
        /// rise of the level of the pulse after a rest per e-fold of time, in steps
        pub boost: f32 = number(0.0, 50.0),
    }
}

const A4: &str = include_str!("presets/a4-tlc.toml");

/// Name, documentation and layers (upper layers first) of each preset.
const PRESETS: &[(&str, &str, &[&str])] = &[
    (
        "a4-tlc",
        "sub-100-layer 3D TLC of Zambelli et al. 2021: word lines of 16 KiB pages programmed in 16 loops",
        &[A4],
    ),
    (
        "a4-tlc-early",
        "a4-tlc with the early retention loss of Luo et al., SIGMETRICS 2018, and HeatWatch's activation energy",
        &[include_str!("presets/a4-tlc-early.toml"), A4],
    ),
];

/// Defaults of all presets: ageing, wear, disturb, layers.
const AGING: &str = include_str!("presets/aging.toml");

impl Coefficients {
    /// Name and documentation of each preset.
    pub fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
        PRESETS.iter().map(|&(name, doc, _)| (name, doc))
    }

    /// The preset `name`. Fails on an unknown name and lists all names.
    pub fn preset(name: &str) -> Result<Coefficients, ConfigError> {
        Ok(Coefficients::resolve(name, Document::empty())?.0)
    }

    /// The preset `name` and its part, under `overrides` (sections `[cell]` and `[part]`). Fails on unknown names and keys and
    /// on values out of range.
    pub fn resolve(name: &str, overrides: Document) -> Result<(Coefficients, PartSpec), ConfigError> {
        let document = parts::layered(overrides.over(document(name)?)?)?;
        let cells = Coefficients::read(&mut document.section("cell")?)?;
        let mut section = document.section("part")?;
        // Keys of the preset's third page do not apply to a part of fewer bits: the number of bits is the cause to name.
        let part =
            PartSpec::read(&mut section).map_err(|error| three_bits(&document).err().unwrap_or(error))?;
        three_bits(&document)?;
        document.finish()?;
        Ok((cells, part))
    }

    /// The coefficients of a block after `cycles` program/erase cycles: erased state and program speed.
    pub fn worn(&self, cycles: f64) -> Coefficients {
        let thousands = (cycles / 1000.0) as f32;
        let mut worn = self.clone();
        worn.erased.mean += self.wear.erased_rise * thousands;
        worn.erased.sd = libm::sqrtf(self.erased.sd * self.erased.sd + self.wear.erased_growth * thousands);
        worn.ispp.start += self.wear.faster * thousands;
        worn
    }

    /// The coefficients of the word lines at `height`: program speed.
    pub fn in_layer(&self, height: f64) -> Coefficients {
        let mut there = self.clone();
        there.ispp.start -= self.layers.speed * height.clamp(-1.0, 1.0) as f32;
        there
    }
}

/// Refuses a part whose cells do not hold three bits.
fn three_bits(document: &Document) -> Result<(), ConfigError> {
    let mut part = document.section("part")?;
    let bits = part.optional_u32("bits-per-cell", "bits of a cell", optional())?;
    let expected = "3: the cell model supports TLC word lines only";
    part.check(bits.is_none_or(|bits| bits == 3), "bits-per-cell", expected)
}

/// The layers of the preset `name` (upper layers first) over the defaults of all presets.
pub fn over_aging(name: &'static str, texts: &[&str]) -> Result<Document, ConfigError> {
    let layer = |text: &str, name| Document::preset(text, PresetKind::Cells, name);
    let lower = layer(AGING, "aging")?;
    texts.iter().rev().try_fold(lower, |lower, text| layer(text, name)?.over(lower))
}

/// The preset `name` as a configuration layer.
pub fn document(name: &str) -> Result<Document, ConfigError> {
    let (name, _, texts) = ConfigError::named("cell preset", name, PRESETS.iter().map(|of| (of.0, *of)))?;
    over_aging(name, texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_cites() {
        for (name, _) in Coefficients::presets() {
            Coefficients::preset(name).expect("an embedded preset is right");
            let uncited = document(name).expect("it is embedded").uncited();
            assert!(uncited.is_empty(), "{name}: no source on {uncited:?}");
        }
    }

    #[test]
    fn errors_name_the_key_and_legal_values() {
        let error = |key: &str, value: &str| {
            let set = Document::set(key, value).expect("it parses");
            Coefficients::resolve("a4-tlc", set).expect_err("it is wrong").to_string()
        };
        for (key, value, parts) in [
            ("cell.ispp.noise", "20.0", ["cell.ispp.noise", "at most gain x step / 3.46"]),
            ("cell.ispp.gain", "1.5", ["cell.ispp.gain", "1"]),
            ("cell.ispp.verify", "[1.0, 2.0]", ["cell.ispp.verify", "seven rising levels"]),
            ("cell.ispp.stp", "3", ["cell.ispp.stp", "step"]),
            ("part.bits-per-cell", "1", ["part.bits-per-cell", "3: the cell model supports TLC"]),
            ("part.bits-per-cell", "2", ["part.bits-per-cell", "3: the cell model supports TLC"]),
            ("part.bits-per-cell", "4", ["part.bits-per-cell", "3: the cell model supports TLC"]),
        ] {
            let message = error(key, value);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
        assert!(Coefficients::preset("nonsense").expect_err("unknown").to_string().contains("a4-tlc"));
    }
}
