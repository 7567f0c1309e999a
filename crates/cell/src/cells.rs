//! Cells of a word line: threshold voltages, speeds, data and noisy sensing.

use crate::coefficients::Coefficients;
use crate::kernel::hash;
use crate::normal::Normal;
use crate::states::STATES;
use interpulse_engine::random::mix;

/// Purposes of random keys.
mod draw {
    pub const SPEED: u64 = 1;
    pub const WORD_LINE: u64 = 2;
    pub const ERASED: u64 = 3;
    pub const DATA: u64 = 4;
    pub const SENSING: u64 = 0x20;
}

/// The cells of a word line. Voltages are in steps.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Threshold voltage of each cell.
    pub vth: Vec<f32>,
    /// Speed: permanent offset of each cell from the staircase of the pulses, including that of its word line.
    pub speed: Vec<f32>,
    /// Random key of the word line, for noise and data.
    pub key: u64,
}

/// A 32-bit key for one purpose.
pub fn subkey(key: u64, purpose: u64) -> u32 {
    mix(key ^ mix(purpose)) as u32
}

impl Cells {
    /// An erased word line of `count` cells. `key` decides the speeds, `key` and `cycle` the erased state.
    pub fn erased(of: &Coefficients, count: usize, key: u64, cycle: u64) -> Cells {
        let normal = Normal::new();
        let shift = word_line_shift(of, key);
        let speeds = subkey(key, draw::SPEED);
        let erased = subkey(key ^ mix(cycle), draw::ERASED);
        let speed =
            (0..count as u32).map(|c| shift + of.ispp.speed_sd * normal.of(hash(speeds, c))).collect();
        let vth =
            (0..count as u32).map(|c| of.erased.mean + of.erased.sd * normal.of(hash(erased, c))).collect();
        Cells { vth, speed, key }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.vth.len()
    }

    /// Whether the word line has no cells.
    pub fn is_empty(&self) -> bool {
        self.vth.is_empty()
    }

    /// Random data of cycle `cycle`: a state per cell, uniformly from `states`.
    pub fn random_data(&self, cycle: u64, states: std::ops::Range<u8>) -> Vec<u8> {
        assert!(!states.is_empty() && usize::from(states.end) <= STATES, "states {states:?}");
        let key = subkey(self.key ^ mix(cycle), draw::DATA);
        let count = u64::from(states.end - states.start);
        (0..self.len() as u32)
            .map(|c| states.start + ((u64::from(hash(key, c)) * count) >> 32) as u8)
            .collect()
    }
}

/// Speed of a word line relative to the average; positive is faster.
pub fn word_line_shift(of: &Coefficients, key: u64) -> f32 {
    of.ispp.word_line_sd * Normal::new().at(key ^ mix(draw::WORD_LINE)) as f32
}

/// The threshold voltages as read number `read` senses them, with noise.
pub fn sensed(of: &Coefficients, cells: &Cells, read: u64) -> Vec<f32> {
    let normal = Normal::new();
    let key = subkey(cells.key ^ mix(read), draw::SENSING);
    let noise = of.read.noise;
    cells.vth.iter().enumerate().map(|(cell, v)| v + noise * normal.of(hash(key, cell as u32))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_permanent_and_data_are_uniform() {
        let of = Coefficients::preset("a4-tlc").expect("it is embedded");
        let (first, again) = (Cells::erased(&of, 80_000, 5, 0), Cells::erased(&of, 80_000, 5, 1));
        assert_eq!(first.speed, again.speed);
        assert_ne!(first.vth, again.vth);
        assert_ne!(first.speed, Cells::erased(&of, 80_000, 6, 0).speed);
        let data = first.random_data(0, 0..8);
        let chi: f64 = (0..8)
            .map(|s| data.iter().filter(|&&d| d == s).count() as f64 - 1e4)
            .map(|off| off * off / 1e4)
            .sum();
        // Seven degrees of freedom: 45 has a probability below 1e-6.
        assert!(chi < 45.0, "{chi}");
        assert_ne!(data, first.random_data(1, 0..8));
        assert!(first.random_data(0, 3..7).iter().all(|s| (3..7).contains(s)));
    }
}
