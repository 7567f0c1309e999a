//! Reads `[power-loss]`: when power is cut, for how long, and how often the map is written to flash.

use interpulse_drive::spec::PowerLossSpec;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Document, default, required};

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
        Ok(PowerLossSpec { at: Some(at), off_for, checkpoint_every })
    })
}
