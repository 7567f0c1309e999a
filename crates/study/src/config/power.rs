//! Section `[power]`: power trace, power budget, and constants of other components.

use interpulse_drive::spec::PowerConstants;
use interpulse_engine::{Duration, Power};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::power::{PowerConfig, budget};
use interpulse_flash::parts::PartSpec;
use interpulse_settings::{ConfigError, Document, default, optional};

pub(super) fn read(
    document: &Document,
    part: &PartSpec,
    geometry: &Geometry,
) -> Result<(PowerConfig, PowerConstants), ConfigError> {
    let mut s = document.section("power")?;
    let trace = s.bool(
        "trace",
        "follow the current through time: largest window, instantaneous maximum, power over time",
        default(false),
    )?;
    let window = s.when(trace, "trace = true", |s| {
        let range = Duration::from_us(1)..=Duration::from_ms(60_000);
        s.duration(
            "window",
            "length of the windows whose largest mean is the peak",
            default(Duration::from_ms(1)).within(range),
        )
    })?;
    let standby_after = s.duration(
        "standby-after",
        "a die on which nothing runs is deselected after this long, and draws its standby current",
        default(Duration::ZERO).at_most(Duration::from_ms(86_400_000)),
    )?;
    let doc = "most VDDcore power, or current, of all dies together; operations wait for their share of it";
    let limit = s.optional_limit("budget", doc, optional())?;
    let allowed = limit.map(|limit| limit.current(part.power.vcc));
    let least =
        budget::least(&part.power, part.buffer_setup, part.read.len(), geometry.dies(), geometry.channels);
    if allowed.is_some_and(|allowed| allowed < least) {
        let least_power = Power((least.as_ua() * part.power.vcc.as_mv()).div_ceil(1_000));
        let expected = format!(
            "at least {least_power} or {least}: one operation on a die while the other dies of the drive are at rest",
        );
        return Err(s.invalid("budget", expected));
    }
    let constants = PowerConstants::read(&mut s)?;
    Ok((PowerConfig { standby_after, trace: window, budget: allowed }, constants))
}
