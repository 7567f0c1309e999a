//! Power of the flash array: measurement and audit.

use interpulse_engine::{Duration, SimTime};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::power::budget::Waits;
use interpulse_flash::nand::power::meter::Reading;
use interpulse_flash::nand::power::tally::{Rails, Spent};
use interpulse_flash::parts::PowerSpec;

/// Energy of the flash array in a measurement window.
pub struct Measured {
    /// Die time and bytes moved.
    pub spent: Spent,
    /// Power trace, if enabled.
    pub reading: Option<Reading>,
    /// Waits of dies for the power budget; `None` without one.
    pub waits: Option<Waits>,
}

impl Measured {
    /// Energy of `nand` since `before`, at the end of a window.
    pub fn take(nand: &mut Nand, now: SimTime, before: &Spent) -> Measured {
        let spent = nand.spent(now).since(before);
        let reading = nand.meter().map(|meter| meter.read(now));
        Measured { spent, reading, waits: nand.budget().map(|budget| budget.waits(now)) }
    }

    /// Checks that every nanosecond of every die has an energy once and that operations sum to the total. Returns
    /// the energy in nJ, or a description of the mismatch.
    pub fn audit(&self, part: &PowerSpec, dies: u32, window: Duration) -> Result<u64, String> {
        let (time, all) = (self.spent.die_time(), window.as_ns() * u64::from(dies));
        if time != all {
            return Err(format!("{time} ns of {all} ns of die time have an energy"));
        }
        let Rails { core, bus } = self.spent.energy(part).totals();
        let by_draw = self.spent.core_by_draw(part);
        if core != by_draw {
            return Err(format!("the operations spent {core} aJ, the dies {by_draw} aJ"));
        }
        if let Some(reading) = &self.reading
            && reading.energy.core != core
        {
            return Err(format!(
                "the dies spent {core} aJ by their states and {} aJ through time",
                reading.energy.core
            ));
        }
        Ok(((core + bus) / 1_000_000_000) as u64)
    }
}

/// Compares both energy sums since the start: by die state and by power trace. Bytes count when their transfer ends,
/// so the buses are compared only while idle.
pub fn audit_meter(nand: &mut Nand, part: &PowerSpec, now: SimTime) -> Result<(), String> {
    let summed = nand.spent(now).energy(part).totals();
    let moves = nand.is_moving();
    match nand.meter().map(|meter| meter.total(now)) {
        Some(followed) if followed.core != summed.core || (!moves && followed.bus != summed.bus) => {
            Err(format!("the dies spent {summed:?} aJ by their states and {followed:?} aJ through time"))
        }
        _ => Ok(()),
    }
}
