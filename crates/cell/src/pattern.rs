//! Background-pattern dependency: programmed cells between a cell and its bit line are in series with it, and the higher their
//! threshold voltages the less they conduct (Gao et al., MICRO 2019, Section 3.3.3).
//!
//! A cell that is sensed through a resistive string carries less current, so it seems to be higher than it is; and a program
//! pulse reaches it more weakly, so that it may not arrive before the program gives up: the left tails of the paper's Figure 6.

use crate::coefficients::number;
use interpulse_settings::{ConfigError, Section};

/// What the cells above do to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern {
    /// Voltage of the word lines that are not read, in steps: a cell conducts as it lies below it.
    pub pass: f32,
    /// Threshold voltage at which a cell above counts as zero, in steps: that of an erased one.
    pub erased: f32,
    /// What a cell seems to rise for each unit of resistance above it, in steps.
    pub apparent: f32,
    /// By how much a pulse's level falls for each unit of resistance above the cell, in steps.
    pub hindrance: f32,
    /// By how much it is larger for the outer half of a layer's word lines, and smaller for the inner half, as a share of it.
    pub spread: f32,
}

impl Pattern {
    /// Reads the section `[cell.pattern]`; `erased` is the mean of the erased state.
    pub fn read(s: &mut Section, erased: f32) -> Result<Pattern, ConfigError> {
        Ok(Pattern {
            spread: number(
                s,
                "spread",
                "how much more it is for outer word lines and less for inner ones, relative",
                0.0,
                0.9,
            )?,
            pass: number(s, "pass", "voltage of the word lines that are not read, in steps", 520.0, 5000.0)?,
            erased,
            apparent: number(
                s,
                "apparent",
                "seeming rise of a cell for each unit of resistance above it, in steps",
                0.0,
                100.0,
            )?,
            hindrance: number(
                s,
                "hindrance",
                "loss of a pulse for each unit of resistance above the cell, in steps",
                0.0,
                200.0,
            )?,
        })
    }

    /// Resistance of a cell in units of an erased one's, less that one: it goes with one over what the pass voltage leaves
    /// above the threshold voltage.
    #[inline(always)]
    pub fn resistance(&self, vth: f32) -> f32 {
        // A cell within a step of the pass voltage would block the string; no program goes there.
        let left = (self.pass - vth).max(1.0);
        ((self.pass - self.erased) / left - 1.0).max(0.0)
    }

    /// The hindrance of word line `number` of the `of` word lines of a layer: strings near the slits at both ends differ from
    /// those in the middle.
    pub fn hindrance_of(&self, number: u32, of: u32) -> f32 {
        let outer = 2 * (2 * number + 1).abs_diff(of) > of;
        self.hindrance * if outer { 1.0 + self.spread } else { 1.0 - self.spread }
    }

    /// Adds the resistance of a word line's cells to that of the strings so far.
    pub fn add(&self, strings: &mut [f32], vth: &[f32]) {
        assert_eq!(strings.len(), vth.len());
        strings.iter_mut().zip(vth).for_each(|(sum, &v)| *sum += self.resistance(v));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_word_lines_are_hindered_more() {
        let pattern = Pattern { pass: 600.0, erased: -100.0, apparent: 1.0, hindrance: 16.0, spread: 0.25 };
        assert_eq!([0, 1, 2, 3].map(|w| pattern.hindrance_of(w, 4)), [20.0, 12.0, 12.0, 20.0]);
        assert_eq!(pattern.hindrance_of(0, 1), 12.0);
        let mean: f32 = (0..16).map(|w| pattern.hindrance_of(w, 16)).sum::<f32>() / 16.0;
        assert_eq!(mean, 16.0);
    }

    #[test]
    fn resistance_grows_with_number_and_height() {
        let pattern = Pattern { pass: 600.0, erased: -100.0, apparent: 1.0, hindrance: 1.0, spread: 0.0 };
        assert_eq!(pattern.resistance(-100.0), 0.0);
        assert_eq!(pattern.resistance(-150.0), 0.0);
        assert_eq!(pattern.resistance(250.0), 1.0);
        let mut strings = [0.0f32; 3];
        pattern.add(&mut strings, &[-100.0, 250.0, 425.0]);
        assert_eq!(strings, [0.0, 1.0, 3.0]);
        pattern.add(&mut strings, &[250.0, 250.0, 250.0]);
        assert_eq!(strings, [1.0, 2.0, 4.0]);
        assert!(pattern.resistance(700.0).is_finite());
    }
}
