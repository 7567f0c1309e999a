//! Where the cells of a programmed word line are after everything that happened to its block since.

use crate::cells::{Cells, subkey};
use crate::coefficients::Coefficients;
use crate::kernel::hash;
use crate::normal::Normal;

/// Keys of what is drawn for a word line.
mod draw {
    pub const LEAK: u64 = 0x11;
    pub const DISTURB: u64 = 0x12;
    pub const SENSE: u64 = 0x13;
}

/// What happened to a word line's block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct History {
    /// Program/erase cycles when it was programmed.
    pub cycles: f64,
    /// Time since, in hours.
    pub hours: f64,
    /// Temperature in that time, in degrees Celsius.
    pub celsius: f64,
    /// Reads of average pages of other word lines of the block since ([`crate::disturb::reads_of_average`]).
    pub reads: f64,
    /// Height in the stack, from -1 (bottom) to 1 (top).
    pub height: f64,
}

impl History {
    /// Just programmed, at mid-height.
    pub fn fresh(of: &Coefficients, cycles: f64) -> History {
        History { cycles, hours: 0.0, celsius: of.retention.reference_celsius, reads: 0.0, height: 0.0 }
    }
}

/// The threshold voltages of `cells` after `history`; the cells themselves stay as programmed. `cycle` numbers the program,
/// so that the next one leaks differently. Retention acts before the reads do.
pub fn aged(of: &Coefficients, cells: &Cells, cycle: u64, history: &History) -> Vec<f32> {
    let mut vth = cells.vth.clone();
    let stress = of.layers.stress_at(history.height);
    let leakiness = of.wear.leakiness(history.cycles).times(stress);
    let hours = of.retention.equivalent_hours(history.hours, history.celsius);
    let leak = subkey(cells.key ^ interpulse_engine::random::mix(cycle), draw::LEAK);
    of.retention.age(&mut vth, leak, leakiness, hours);
    let rate = of.disturb.rate_after(history.cycles, f64::from(of.wear.reference_cycles));
    of.disturb.apply(&mut vth, subkey(cells.key, draw::DISTURB), rate * f64::from(stress), history.reads);
    vth
}

/// What sensing number `number` sees of these voltages: each with noise of its own.
pub fn sensed(of: &Coefficients, vth: &[f32], key: u64, number: u64) -> Vec<f32> {
    let normal = Normal::new();
    let key = subkey(key ^ interpulse_engine::random::mix(number), draw::SENSE);
    let noise = |cell: usize| of.read.noise * normal.of(hash(key, cell as u32));
    vth.iter().enumerate().map(|(cell, v)| v + noise(cell)).collect()
}
