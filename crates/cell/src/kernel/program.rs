//! Program pulse on an array of cells.

use super::noise::{hash, irwin_hall};
use interpulse_engine::vectorised;

/// Drive of an inhibited cell: its bit line is raised, so no pulse reaches it.
pub const INHIBITED: f32 = f32::NEG_INFINITY;

/// One programming pulse on a word line.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// Threshold voltage that a cell of drive zero approaches, in steps.
    pub level: f32,
    /// Share of the distance to it that a pulse covers, below 1.
    pub gain: f32,
    /// Injection noise: standard deviation of the rise as a share of the overdrive, up to an overdrive of `noise_up_to`.
    pub noise: f32,
    /// Overdrive above which the noise is constant, in steps.
    pub noise_up_to: f32,
    /// Key of the noise.
    pub key: u32,
}

vectorised! {
    /// Applies a pulse: each cell rises towards `level` plus its `drive` by a share of the distance, with noise, and never
    /// falls. Panics if the slices differ in length.
    pub fn pulse(vth: &mut [f32], drive: &[f32], by: Pulse) => body
}

#[inline(always)]
fn body(vth: &mut [f32], drive: &[f32], by: Pulse) {
    assert_eq!(vth.len(), drive.len());
    for (cell, (v, d)) in vth.iter_mut().zip(drive).enumerate() {
        let over = by.level + *d - *v;
        let over = if over > 0.0 { over } else { 0.0 };
        let noisy = if over < by.noise_up_to { over } else { by.noise_up_to };
        *v += by.gain * over + by.noise * noisy * irwin_hall(hash(by.key, cell as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(n: u32) -> (Vec<f32>, Vec<f32>) {
        let vth = (0..n).map(|c| irwin_hall(hash(1, c)) * 46.0 - 110.0).collect();
        let drive =
            (0..n).map(|c| if c % 5 == 0 { INHIBITED } else { irwin_hall(hash(2, c)) * 20.0 }).collect();
        (vth, drive)
    }

    const PULSE: Pulse = Pulse { level: 60.0, gain: 0.8, noise: 0.1, noise_up_to: 29.0, key: 9 };

    #[test]
    fn vector_code_gives_the_same_bits() {
        let (mut fast, drive) = cells(10_007);
        let mut plain = fast.clone();
        for k in 0..16 {
            let by = Pulse { level: 60.0 + 29.0 * k as f32, key: k, ..PULSE };
            pulse(&mut fast, &drive, by);
            body(&mut plain, &drive, by);
        }
        assert!(fast.iter().zip(&plain).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn no_cell_moves_down_and_inhibited_cells_do_not_move() {
        let (mut vth, drive) = cells(100_000);
        for k in 0..20 {
            let before = vth.clone();
            pulse(&mut vth, &drive, Pulse { level: -60.0 + 29.0 * k as f32, key: k, ..PULSE });
            assert!(vth.iter().zip(&before).all(|(after, before)| after >= before));
            let held = vth.iter().zip(&before).zip(&drive).filter(|(_, d)| **d == INHIBITED);
            assert!(
                held.clone().count() == 20_000
                    && held.into_iter().all(|((a, b), _)| a.to_bits() == b.to_bits())
            );
        }
    }

    /// In the steady state each pulse raises a cell by the step of the staircase.
    #[test]
    fn cells_follow_the_staircase() {
        let mut vth = vec![-110.0f32; 50_000];
        let drive = vec![0.0f32; 50_000];
        let mut last = 0.0;
        for k in 0..20 {
            pulse(&mut vth, &drive, Pulse { level: 60.0 + 29.0 * k as f32, key: k, ..PULSE });
            let mean = vth.iter().map(|v| f64::from(*v)).sum::<f64>() / 5e4;
            if k > 10 {
                assert!((mean - last - 29.0).abs() < 0.2, "pulse {k}: {}", mean - last);
            }
            last = mean;
        }
    }
}
