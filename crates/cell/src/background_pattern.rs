//! Background pattern dependency: programmed cells between a cell and its bit line add series resistance, which grows with
//! their threshold voltages (Gao et al., MICRO 2019, Section 3.3.3).
//!
//! A cell sensed through a resistive string appears higher than it is, and program pulses reach it more weakly, so that it may
//! not pass before the program fails: the left tails of Figure 6 of the paper.

use crate::preset_values::PresetValues;
use interpulse_settings::keys;

keys! {
    /// Effect of the cells above on a cell.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pattern, pub fn read(s, mean_erased: f32) {
        /// relative increase of the hindrance of word lines at a slit
        pub at_slit: f32 = number(0.0, 2.0),
        /// pass voltage of unread word lines, in steps
        pub pass: f32 = number(520.0, 5000.0),
        /// Threshold voltage of zero resistance, in steps: the erased state.
        pub erased: f32 => mean_erased,
        /// apparent rise of a cell per unit of resistance above it, in steps
        pub apparent: f32 = number(0.0, 100.0),
        /// loss of a pulse per unit of resistance above the cell, in steps
        pub hindrance: f32 = number(0.0, 200.0),
    }
}

impl Pattern {
    /// Resistance of a cell relative to an erased cell, less one: inversely proportional to pass voltage less threshold
    /// voltage.
    #[inline(always)]
    pub fn resistance(&self, vth: f32) -> f32 {
        // A cell within a step of the pass voltage would block the string; no program reaches it.
        let left = (self.pass - vth).max(1.0);
        ((self.pass - self.erased) / left - 1.0).max(0.0)
    }

    /// The hindrance of word line `number` of a layer; the last of every four lies at a slit.
    pub fn hindrance_of(&self, number: u32) -> f32 {
        self.hindrance * if number % 4 == 3 { 1.0 + self.at_slit } else { 1.0 }
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
    fn word_lines_at_a_slit_are_hindered_more() {
        let pattern = Pattern { pass: 600.0, erased: -100.0, apparent: 1.0, hindrance: 16.0, at_slit: 0.25 };
        let hindrance: Vec<f32> = (0..8).map(|w| pattern.hindrance_of(w)).collect();
        assert_eq!(hindrance, [16.0, 16.0, 16.0, 20.0, 16.0, 16.0, 16.0, 20.0]);
    }

    #[test]
    fn resistance_grows_with_number_and_height() {
        let pattern = Pattern { pass: 600.0, erased: -100.0, apparent: 1.0, hindrance: 1.0, at_slit: 0.0 };
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
