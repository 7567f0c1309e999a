//! Histogram of threshold voltages by state, and bit errors at any read levels.

use crate::states::{self, BOUNDARIES, PageType, STATES};

/// Voltage of the lowest bin.
const LOWEST: i32 = -400;
/// Number of bins, each one step wide.
const BINS: usize = 1400;

/// Cells by state and threshold voltage, in bins of one step from v up to v + 1. Read levels are whole steps, as of the
/// digital-to-analogue converter of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bins: Vec<[u32; STATES]>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { bins: vec![[0; STATES]; BINS] }
    }
}

/// Read levels, lowest boundary first, in steps: a cell at a level or higher reads as above the boundary.
pub type Levels = [i32; BOUNDARIES];

/// Rounds levels to whole steps.
pub fn whole(levels: &[f32; BOUNDARIES]) -> Levels {
    levels.map(|v| libm::roundf(v) as i32)
}

impl Histogram {
    /// Counts the cells of one word line by sensed threshold voltage.
    pub fn of(seen: &[f32], data: &[u8]) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.add(seen, data);
        histogram
    }

    /// Counts the cells of another word line. Panics if the slices differ in length.
    pub fn add(&mut self, seen: &[f32], data: &[u8]) {
        assert_eq!(seen.len(), data.len());
        for (&v, &state) in seen.iter().zip(data) {
            // Truncation is the floor, because the number is not negative.
            let bin = (v - LOWEST as f32).clamp(0.0, (BINS - 1) as f32) as usize;
            self.bins[bin][usize::from(state)] += 1;
        }
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.bins.iter().flatten().map(|&n| u64::from(n)).sum()
    }

    /// Voltage and cells by state of each non-empty bin.
    pub fn rows(&self) -> impl Iterator<Item = (i32, &[u32; STATES])> {
        let voltage = |(k, row)| (LOWEST + k as i32, row);
        self.bins.iter().enumerate().map(voltage).filter(|(_, row)| row.iter().any(|&n| n > 0))
    }

    /// Number, mean and standard deviation of the cells of a state, in steps, at the bin centres.
    pub fn moments(&self, state: u8) -> (u64, f64, f64) {
        let (mut n, mut sum, mut squares) = (0u64, 0.0f64, 0.0f64);
        for (v, row) in self.rows() {
            let (count, v) = (f64::from(row[usize::from(state)]), f64::from(v) + 0.5);
            n += u64::from(row[usize::from(state)]);
            sum += count * v;
            squares += count * v * v;
        }
        let mean = sum / n as f64;
        // Less the variance within a bin.
        let variance = squares / n as f64 - mean * mean - 1.0 / 12.0;
        (n, mean, libm::sqrt(variance.max(0.0)))
    }

    /// Bit errors of a page read at `levels`, with `bit` its bit in each state. Levels need not rise.
    pub fn errors(&self, levels: &Levels, bit: impl Fn(u8) -> u8) -> u64 {
        let flips: Vec<i32> =
            (0..BOUNDARIES).filter(|&k| bit(k as u8) != bit(k as u8 + 1)).map(|k| levels[k]).collect();
        let lowest = bit(0);
        let bits: [u8; STATES] = std::array::from_fn(|s| bit(s as u8));
        let mut errors = 0u64;
        for (v, row) in self.rows() {
            // Each boundary below the cell inverts the bit.
            let above = flips.iter().filter(|&&level| v >= level).count() as u8;
            let read = lowest ^ (above & 1);
            errors +=
                row.iter().zip(&bits).filter(|(_, b)| **b != read).map(|(&n, _)| u64::from(n)).sum::<u64>();
        }
        errors
    }

    /// Bit errors of a page of the Gray code.
    pub fn page_errors(&self, levels: &Levels, page: PageType) -> u64 {
        self.errors(levels, |state| states::bit(page, state))
    }

    /// Calibrated read levels: for each boundary the level with the fewest cells on the wrong side (the middle one of equals).
    /// A boundary next to an empty state keeps the level of `otherwise`.
    pub fn best_levels(&self, otherwise: &Levels) -> Levels {
        std::array::from_fn(|k| self.best_level(k).unwrap_or(otherwise[k]))
    }

    fn best_level(&self, boundary: usize) -> Option<i32> {
        let sum = |row: &[u32; STATES], above: bool| -> i64 {
            let part = if above { &row[boundary + 1..] } else { &row[..=boundary] };
            part.iter().map(|&n| i64::from(n)).sum()
        };
        let totals = [false, true].map(|above| self.bins.iter().map(|row| sum(row, above)).sum::<i64>());
        if totals.contains(&0) {
            return None;
        }
        // At the lowest level all cells of the lower states are wrong.
        let mut wrong = totals[0];
        let (mut fewest, mut first, mut last) = (wrong, LOWEST, LOWEST);
        for (k, row) in self.bins.iter().enumerate() {
            wrong += sum(row, true) - sum(row, false);
            let level = LOWEST + k as i32 + 1;
            if wrong < fewest {
                (fewest, first, last) = (wrong, level, level);
            } else if wrong == fewest && last == level - 1 {
                last = level;
            }
        }
        Some(first + (last - first) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells in the middle of their states.
    fn centred() -> (Vec<f32>, Vec<u8>) {
        let data: Vec<u8> = (0..80).map(|k| k % 8).collect();
        (data.iter().map(|&s| f32::from(s) * 64.0).collect(), data)
    }

    const LEVELS: Levels = [32, 96, 160, 224, 288, 352, 416];

    #[test]
    fn a_cell_on_the_wrong_side_is_one_bit_of_one_page() {
        let (vth, data) = centred();
        for page in PageType::ALL.map(|(_, page)| page) {
            assert_eq!(Histogram::of(&vth, &data).page_errors(&LEVELS, page), 0);
        }
        for boundary in 0..BOUNDARIES {
            let mut moved = vth.clone();
            // A cell at the level reads as above the boundary.
            moved[boundary] = LEVELS[boundary] as f32;
            let histogram = Histogram::of(&moved, &data);
            for page in PageType::ALL.map(|(_, page)| page) {
                let hit = states::boundaries(page).any(|k| k == boundary);
                assert_eq!(
                    histogram.page_errors(&LEVELS, page),
                    u64::from(hit),
                    "boundary {boundary}, {page:?}"
                );
            }
        }
    }

    #[test]
    fn the_best_level_lies_in_the_middle_of_the_gap() {
        let (vth, data) = centred();
        let best = Histogram::of(&vth, &data).best_levels(&[0; 7]);
        assert_eq!(best, [32, 96, 160, 224, 288, 352, 416]);
        let only_two = Histogram::of(&[0.0, 64.0], &[2, 3]).best_levels(&[7; 7]);
        assert_eq!(only_two, [7, 7, 32, 7, 7, 7, 7]);
    }

    #[test]
    fn moments_of_known_cells() {
        let (n, mean, sd) = Histogram::of(&[10.5, 12.5, 14.5, 99.0], &[3, 3, 3, 4]).moments(3);
        assert_eq!((n, mean), (3, 12.5));
        assert!((sd * sd - (8.0 / 3.0 - 1.0 / 12.0)).abs() < 1e-9);
    }
}
