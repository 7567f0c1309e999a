//! Erase of real cells, pulse by pulse.
//!
//! Charge leaves at a rate that grows exponentially with the remaining charge (Fowler-Nordheim tunnelling, linearised around
//! a level): `dv/dt = -(lambda / T) exp((v - level) / lambda)`, with T the length of a whole pulse. The model uses the exact
//! solution, so pieces of a pulse add up to the whole, and a repeated pulse drives cells deeper by `lambda` per e-fold of time.

use crate::cells::{Cells, subkey};
use crate::ispe::Ispe;
use crate::kernel::hash;
use crate::normal::Normal;

/// Purpose of the key of a cell.
const SPEED: u64 = 0x30;

/// An erase in progress on the word lines of one block.
pub struct Erase {
    /// Level of the first loop for an average cell.
    start: f32,
    /// Offset of each cell from that level; permanent.
    offsets: Vec<Vec<f32>>,
    /// Time under erase voltage, in whole pulses; ramps count with their share.
    stress: f64,
    /// Minimum number of loops.
    at_least: u32,
}

impl Erase {
    /// Starts the erase of `lines`, the word lines of `block` after `cycles` cycles. `mean` and `sd` describe the erased
    /// state of an uninterrupted erase without wear.
    pub fn begin(of: &Ispe, lines: &[Cells], mean: f32, sd: f32, block: u64, cycles: f64) -> Erase {
        let normal = Normal::new();
        // The last loop of an average block results in the erased state.
        let extra = of.extra_loops(block, cycles);
        let start = mean + of.step * (of.loops as f32 - 1.0 + extra as f32);
        let at_least = if of.ends_early { 0 } else { of.loops + libm::ceil(extra) as u32 };
        let offsets = lines
            .iter()
            .map(|cells| {
                let key = subkey(cells.key, SPEED);
                (0..cells.len() as u32).map(|c| sd * normal.of(hash(key, c))).collect()
            })
            .collect();
        Erase { start, offsets, stress: 0.0, at_least }
    }

    /// Applies the pulse of loop `number` (from 0) for `share` of its length.
    pub fn pulse(&mut self, of: &Ispe, lines: &mut [Cells], number: u32, share: f64) {
        let level = self.start - of.step * number as f32;
        for (cells, offsets) in lines.iter_mut().zip(&self.offsets) {
            for (v, offset) in cells.vth.iter_mut().zip(offsets) {
                *v = after(*v, level + offset, of.lambda, share as f32);
            }
        }
        self.stress += share;
    }

    /// A voltage ramp as long as `share` of a pulse: it causes stress and erases almost nothing.
    pub fn ramp(&mut self, of: &Ispe, share: f64) {
        self.stress += f64::from(of.ramp_stress) * share;
    }

    /// Whether the verify of loop `number` ends the erase.
    pub fn verify(&self, of: &Ispe, lines: &[Cells], number: u32) -> bool {
        if number + 1 < self.at_least {
            return false;
        }
        let cells: usize = lines.iter().map(Cells::len).sum();
        let above: usize = lines.iter().map(|l| l.vth.iter().filter(|v| **v > of.verify).count()).sum();
        above as f64 <= f64::from(of.fails_allowed) * cells as f64
    }

    /// Time under erase voltage, in whole pulses; ramps count with their share.
    pub fn stress(&self) -> f64 {
        self.stress
    }
}

/// Threshold voltage of a cell at `v` after `share` of a pulse.
fn after(v: f32, level: f32, lambda: f32, share: f32) -> f32 {
    let over = (v - level) / lambda;
    // Far above the level the 1 is negligible and the exponential would overflow.
    if over > 60.0 {
        return level - lambda * libm::logf(share);
    }
    v - lambda * libm::log1pf(share * libm::expf(over))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_pulse_add_up_to_the_whole() {
        for v in [450.0f32, 20.0, -80.0, -150.0] {
            let whole = after(v, -90.0, 12.0, 1.0);
            let pieces = (0..10).fold(v, |v, _| after(v, -90.0, 12.0, 0.1));
            assert!((whole - pieces).abs() < 0.01, "{v}: {whole} against {pieces}");
            assert!(whole <= v);
        }
        // Twice the time is ln 2 lambdas deeper for a cell from far above.
        let twice = after(450.0, -90.0, 12.0, 2.0);
        assert!((twice - (-90.0 - 12.0 * 2.0f32.ln())).abs() < 0.01, "{twice}");
    }
}
