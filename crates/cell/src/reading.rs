//! What a sensing sees of threshold voltages.

use crate::cells::{Cells, subkey};
use crate::coefficients::Coefficients;
use crate::kernel::hash;
use crate::normal::Normal;
use interpulse_engine::random::mix;

/// Purpose of the key of the read noise.
const SENSING: u64 = 0x20;

/// The threshold voltages as read number `read` senses them: with noise.
pub fn sensed(of: &Coefficients, cells: &Cells, read: u64) -> Vec<f32> {
    let normal = Normal::new();
    let key = subkey(cells.key ^ mix(read), SENSING);
    let noise = of.read.noise;
    cells.vth.iter().enumerate().map(|(cell, v)| v + noise * normal.of(hash(key, cell as u32))).collect()
}
