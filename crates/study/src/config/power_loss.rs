//! Reads `[power-loss]`: when power is cut, for how long, and how often the map is written to flash.

use interpulse_drive::spec::{Capacitor, PowerLossSpec};
use interpulse_engine::{Duration, Voltage};
use interpulse_flash::hold_up::Placement;
use interpulse_settings::{ConfigError, Document, Section, default, optional, required};

/// Reads the section; without it power is never lost.
pub(super) fn read(document: &Document) -> Result<Option<PowerLossSpec>, ConfigError> {
    document.section("power-loss")?.when(document.has("power-loss"), "[power-loss]", |s| {
        let day = Duration::from_ms(24 * 3_600_000);
        let at = s.duration("at", "simulated time at which power is cut", required().at_most(day * 100))?;
        let off_for =
            s.duration("off-for", "how long power is off", default(Duration::from_ms(100)).at_most(day))?;
        let checkpoint_every = s.duration(
            "checkpoint-every",
            "time between two checkpoints of the map, which recovery begins with",
            default(Duration::from_ms(1000)).within(Duration::from_us(100)..=day),
        )?;
        let save_to = s.choice(
            "save-to",
            "which dies save the cache on the energy of capacitors",
            Some("first-free"),
            Placement::ALL,
        )?;
        let capacitor = capacitor(s)?;
        Ok(PowerLossSpec { at: Some(at), off_for, checkpoint_every, save_to, capacitor })
    })
}

/// What feeds the drive while the cache is saved; asked for by its voltage.
fn capacitor(s: &mut Section) -> Result<Option<Capacitor>, ConfigError> {
    let volts = || optional().within(Voltage(500)..=Voltage(1_000_000));
    let doc = "voltage of the capacitors at the cut; their size is in the result where it is given";
    let Some(charged) = s.optional_voltage("capacitor-voltage", doc, volts())? else {
        let belongs = "a given capacitor-voltage";
        s.when(false, belongs, |s| rest(s, Voltage(u64::MAX)))?;
        return Ok(None);
    };
    rest(s, charged).map(Some)
}

fn rest(s: &mut Section, charged: Voltage) -> Result<Capacitor, ConfigError> {
    let doc = "voltage of the capacitors at which the drive's converter gives up";
    let range = required().within(Voltage(100)..=Voltage(1_000_000)).typical(Voltage(6_000));
    let lowest = s.voltage("capacitor-lowest", doc, range)?;
    let doc = "share of the capacitors' energy that the converter hands on";
    let efficiency = s.fraction("capacitor-efficiency", doc, default(1.0).within(0.01..=1.0))?;
    if lowest >= charged {
        let expected =
            format!("less than capacitor-voltage = {charged}: a capacitor gives energy as its voltage falls");
        return Err(s.invalid("capacitor-lowest", expected));
    }
    Ok(Capacitor { charged, lowest, efficiency_ppm: (efficiency * 1e6).round() as u32 })
}
