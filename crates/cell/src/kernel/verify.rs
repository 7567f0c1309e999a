//! Verify of one level on an array of cells.

use super::program::INHIBITED;
use interpulse_engine::vectorised;

vectorised! {
    /// Verifies the cells whose `target` is `level` and inhibits those at or above it. `raised` is the apparent rise of each
    /// cell (or empty). Returns the cells below the level, without cells inhibited earlier. Panics if the slices differ in
    /// length.
    pub fn verify(vth: &[f32], raised: &[f32], target: &[f32], drive: &mut [f32], level: f32) -> u32 => body
}

#[inline(always)]
fn body(vth: &[f32], raised: &[f32], target: &[f32], drive: &mut [f32], level: f32) -> u32 {
    assert!(vth.len() == target.len() && vth.len() == drive.len());
    let mut below = 0u32;
    if raised.is_empty() {
        for ((v, t), d) in vth.iter().zip(target).zip(drive.iter_mut()) {
            let mine = *t == level;
            let passed = mine & (*v >= level);
            below += u32::from(mine & (*v < level) & (*d > INHIBITED));
            *d = if passed { INHIBITED } else { *d };
        }
    } else {
        assert_eq!(vth.len(), raised.len());
        for (((v, r), t), d) in vth.iter().zip(raised).zip(target).zip(drive.iter_mut()) {
            let mine = *t == level;
            let seen = *v + *r;
            let passed = mine & (seen >= level);
            below += u32::from(mine & (seen < level) & (*d > INHIBITED));
            *d = if passed { INHIBITED } else { *d };
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_of_the_level_are_verified() {
        let vth = [10.0, 9.9, 10.0, 30.0, 5.0];
        let target = [10.0, 10.0, 20.0, 20.0, 10.0];
        let mut drive = [0.0; 5];
        assert_eq!(verify(&vth, &[], &target, &mut drive, 10.0), 2);
        assert_eq!(drive, [INHIBITED, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(verify(&vth, &[], &target, &mut drive, 20.0), 1);
        assert_eq!(drive, [INHIBITED, 0.0, 0.0, INHIBITED, 0.0]);
        // The apparent rise lets a cell pass.
        assert_eq!(verify(&vth, &[0.0, 0.2, 0.0, 0.0, 0.2], &target, &mut drive, 10.0), 1);
        assert_eq!(drive, [INHIBITED, INHIBITED, 0.0, INHIBITED, 0.0]);
        // A cell that lost charge after passing is not counted again.
        assert_eq!(verify(&[1.0; 5], &[], &target, &mut drive, 10.0), 1);
    }
}
