//! History of a word line since its program: retention and read disturb.

use crate::cells::{Cells, subkey};
use crate::coefficients::Coefficients;
use interpulse_engine::random::mix;

/// Purposes of random keys.
mod draw {
    pub const LEAK: u64 = 0x11;
    pub const DISTURB: u64 = 0x12;
}

/// Wear, age and reads of a word line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct History {
    /// Program/erase cycles at the program.
    pub cycles: f64,
    /// Time since the program, in hours.
    pub hours: f64,
    /// Temperature, in degrees Celsius.
    pub celsius: f64,
    /// Page reads on the other word lines of the block, weighted by their sensings: a page of the average number counts
    /// as one ([`crate::disturb::reads_of_average`]).
    pub reads: f64,
    /// Height in the stack, from -1 (bottom) to 1 (top).
    pub height: f64,
}

impl History {
    /// A fresh program at mid-height.
    pub fn fresh(of: &Coefficients, cycles: f64) -> History {
        History { cycles, hours: 0.0, celsius: of.retention.reference_celsius, reads: 0.0, height: 0.0 }
    }
}

/// A copy of `cells` after `history`, retention before disturb. `cycle` numbers the program
/// operation and seeds the random leak of each cell; wear follows from `history.cycles`.
pub fn aged(of: &Coefficients, cells: &Cells, cycle: u64, history: &History) -> Cells {
    let mut aged = cells.clone();
    let stress = of.layers.stress_at(history.height);
    let leakiness = of.wear.leakiness(history.cycles).times(stress);
    let hours = of.retention.equivalent_hours(history.hours, history.celsius);
    let leak = subkey(cells.key ^ mix(cycle), draw::LEAK);
    of.retention.age(&mut aged.vth, leak, leakiness, hours);
    let rate = of.disturb.rate_after(history.cycles, f64::from(of.wear.reference_cycles));
    of.disturb.apply(
        &mut aged.vth,
        subkey(cells.key, draw::DISTURB),
        rate * f64::from(stress),
        history.reads,
    );
    aged
}
