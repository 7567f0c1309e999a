//! Program of real cells, loop by loop.

use crate::cells::{Cells, subkey};
use crate::coefficients::Coefficients;
use crate::kernel::{self, INHIBITED, Pulse};
use crate::states::STATES;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_flash::suspend::Compensation;

/// Purpose of the key of the injection noise.
const INJECTION: u64 = 0x10;

/// A program in progress.
#[derive(Clone, Debug)]
pub struct Program {
    /// Verify level of the state of each cell; infinity for cells that stay erased.
    target: Vec<f32>,
    /// Offset of the pulse level for each cell; minus infinity for inhibited cells.
    drive: Vec<f32>,
    /// Cells per state that may stay below the verify level.
    allowed: [u32; STATES],
    /// Complete states.
    passed: [bool; STATES],
    /// Cells per state below their verify level.
    left_below: [u32; STATES],
    /// Drives at the last pulse: cells that it reached lose charge in a rest.
    recent: Vec<f32>,
    /// Rise of the level of the next pulse, after a rest.
    boost: f32,
    /// Fall of the level of all further pulses, by compensated resumes.
    fallen: f32,
    /// Number of pulses, including partial ones; selects the noise.
    pulses: u32,
    key: u32,
}

impl Program {
    /// Starts a program of `data` (a state per cell) in cycle `cycle`. Cells of state ER are inhibited. Panics on data of the
    /// wrong length.
    pub fn begin(of: &Coefficients, cells: &Cells, data: &[u8], cycle: u64) -> Program {
        assert_eq!(data.len(), cells.len(), "a state for every cell");
        let level =
            |state: u8| if state == 0 { f32::INFINITY } else { of.ispp.verify[usize::from(state) - 1] };
        let target: Vec<f32> = data.iter().map(|&state| level(state)).collect();
        let drive = data
            .iter()
            .zip(&cells.speed)
            .map(|(&s, &speed)| if s == 0 { INHIBITED } else { speed })
            .collect();
        let mut count = [0u32; STATES];
        data.iter().for_each(|&state| count[usize::from(state)] += 1);
        let allowed = count.map(|n| (n as f32 * of.ispp.fails_allowed) as u32);
        let mut passed = count.map(|n| n == 0);
        passed[0] = true;
        let key = subkey(cells.key ^ mix(cycle), INJECTION);
        Program {
            target,
            drive,
            allowed,
            passed,
            left_below: [0; STATES],
            recent: Vec::new(),
            boost: 0.0,
            fallen: 0.0,
            pulses: 0,
            key,
        }
    }

    /// Weakens all further pulses by a value per cell, in steps (the resistive string above).
    pub fn hinder(&mut self, by: &[f32]) {
        assert_eq!(by.len(), self.drive.len());
        self.drive.iter_mut().zip(by).for_each(|(drive, less)| *drive -= less);
    }

    /// The first loop whose pulse may move a cell. Skipping earlier loops changes the noise of later ones.
    pub fn first_loop(&self, of: &Coefficients, cells: &Cells) -> u32 {
        let reached =
            cells.vth.iter().zip(&self.drive).map(|(v, drive)| v - drive).fold(f32::INFINITY, f32::min);
        let loops = (reached - of.ispp.start) / of.ispp.step;
        // The conversion saturates: negative is the first loop, infinity (all cells inhibited) is none.
        (loops.floor() as u32).min(of.ispp.max_loops)
    }

    /// Verifies every state before the first pulse, so that cells already above their level are inhibited (reprogram).
    pub fn verify_first(&mut self, cells: &Cells, raised: &[f32], of: &Coefficients) {
        for state in 1..STATES {
            if !self.passed[state] {
                self.verify_state(of, cells, raised, state);
            }
        }
    }

    /// Applies the pulse of loop `number` (from 0) for `share` of its length.
    pub fn pulse(&mut self, of: &Coefficients, cells: &mut Cells, number: u32, share: f64) {
        let gain =
            if share >= 1.0 { of.ispp.gain } else { 1.0 - libm::powf(1.0 - of.ispp.gain, share as f32) };
        let by = Pulse {
            level: of.ispp.start + of.ispp.step * number as f32 + std::mem::take(&mut self.boost)
                - self.fallen,
            gain,
            noise: of.ispp.noise / of.ispp.step * share_of_noise(of, gain / of.ispp.gain),
            noise_up_to: of.ispp.step,
            key: kernel::hash(self.key, self.pulses),
        };
        self.pulses += 1;
        kernel::pulse(&mut cells.vth, &self.drive, by);
    }

    /// The verify of loop `number`, at the levels of incomplete states that a cell may have reached. `raised` is the apparent
    /// rise of each cell (or empty).
    pub fn verify(&mut self, of: &Coefficients, cells: &Cells, raised: &[f32], number: u32) {
        let reach = of.ispp.start + of.ispp.step * number as f32 + of.ispp.fastest - self.fallen;
        for state in 1..STATES {
            if !self.passed[state] && of.ispp.verify[state - 1] <= reach {
                self.verify_state(of, cells, raised, state);
            }
        }
    }

    /// Stores the cells that the last pulse reached; must precede a verify that a rest follows.
    pub fn note_recent(&mut self) {
        self.recent.clone_from(&self.drive);
    }

    /// A rest of `length`: cells reached by the last pulse lose part of its charge. The additional loss of earlier pulses is
    /// negligible, because it is logarithmic in time.
    pub fn rest(&mut self, of: &Coefficients, cells: &mut Cells, length: Duration) {
        if self.recent.is_empty() {
            self.note_recent();
        }
        let e_folds = libm::log1p(length.as_ns() as f64 / 1e3 / f64::from(of.detrapping.after_us));
        let top = of.ispp.verify[STATES - 2] - of.erased.mean;
        let share = of.detrapping.amount * e_folds as f32 / top;
        for (v, drive) in cells.vth.iter_mut().zip(&self.recent) {
            let height = *v - of.erased.mean;
            *v -= if *drive > INHIBITED && height > 0.0 { share * height } else { 0.0 };
        }
        self.recent.clear();
        self.boost = of.detrapping.boost * e_folds as f32;
    }

    /// The program, of which `loops` are complete, resumes after a suspension of `length` with a lower voltage, but not below that
    /// of its first loop.
    pub fn compensate(&mut self, of: &Coefficients, by: &Compensation, length: Duration, loops: u32) {
        let fallen = self.fallen + by.steps(length) as f32 * of.ispp.step;
        self.fallen = fallen.min(loops as f32 * of.ispp.step);
    }

    fn verify_state(&mut self, of: &Coefficients, cells: &Cells, raised: &[f32], state: usize) {
        let level = of.ispp.verify[state - 1];
        let below = kernel::verify(&cells.vth, raised, &self.target, &mut self.drive, level);
        self.left_below[state] = below;
        if below <= self.allowed[state] {
            self.passed[state] = true;
            if below > 0 {
                // The slowest cells of a complete state are inhibited.
                let late = self.target.iter().zip(&mut self.drive).filter(|(t, _)| **t == level);
                late.for_each(|(_, drive)| *drive = INHIBITED);
            }
        }
    }

    /// Whether every state is complete.
    pub fn is_done(&self) -> bool {
        self.passed.iter().all(|&passed| passed)
    }

    /// Cells below their verify level.
    pub fn below(&self) -> u32 {
        self.left_below.iter().sum()
    }
}

/// Noise of a piece of a pulse, relative to the whole pulse, for a share `made_up` of its gain: the square root, because
/// variances of independent pieces add up. Bounded, so that small pieces do not move a cell down.
fn share_of_noise(of: &Coefficients, made_up: f32) -> f32 {
    let most = of.ispp.gain * of.ispp.step / (3.46 * of.ispp.noise.max(1e-6));
    libm::sqrtf(made_up).min(made_up * most)
}

/// Programs a word line without suspension. Returns the number of loops.
pub fn program(of: &Coefficients, cells: &mut Cells, data: &[u8], cycle: u64) -> u32 {
    let mut run = Program::begin(of, cells, data, cycle);
    for number in 0..of.ispp.max_loops {
        run.pulse(of, cells, number, 1.0);
        run.verify(of, cells, &[], number);
        if run.is_done() {
            return number + 1;
        }
    }
    of.ispp.max_loops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a pulse move cells as far as the whole, with comparable noise; no piece moves a cell down.
    #[test]
    fn pieces_of_a_pulse_have_the_noise_of_the_whole() {
        let of = Coefficients::preset("a4-tlc").expect("it is embedded");
        let spread = |pieces: u32| {
            let mut cells = Cells::erased(&of, 100_000, 3, 0);
            cells.vth.fill(0.0);
            cells.speed.fill(0.0);
            let mut run = Program::begin(&of, &cells, &vec![7; 100_000], 0);
            for _ in 0..pieces {
                let before = cells.vth.clone();
                run.pulse(&of, &mut cells, 8, 1.0 / f64::from(pieces));
                assert!(cells.vth.iter().zip(&before).all(|(after, before)| after >= before));
            }
            let n = cells.len() as f64;
            let mean = cells.vth.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
            let variance = cells.vth.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
            (mean, variance.sqrt())
        };
        let whole = spread(1);
        assert!((whole.1 / f64::from(of.ispp.noise) - 1.0).abs() < 0.02, "{whole:?}");
        for pieces in [2, 4, 100] {
            let (mean, sd) = spread(pieces);
            assert!((mean - whole.0).abs() < 0.2, "{pieces}: {mean} against {whole:?}");
            assert!((0.35..1.3).contains(&(sd / whole.1)), "{pieces}: {sd} against {whole:?}");
        }
    }
}
