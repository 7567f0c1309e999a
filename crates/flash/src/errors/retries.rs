//! What a retry step does while the one before is decoded.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Row, Section, default};

/// What the configuration reads: the time to cut off a sensing in vain, of a pipelined retry.
pub const RETRIES: &[Row<Option<Duration>>] = &[
    Row { name: "regular", doc: "a retry step waits for the decode of the one before", read: |_| Ok(None) },
    Row { name: "pipelined", doc: "the next step is sensed meanwhile (PR2)", read: read_pipelined },
];

fn read_pipelined(s: &mut Section) -> Result<Option<Duration>, ConfigError> {
    let range = default(Duration::from_us(5)).at_most(Duration::from_ms(10));
    s.duration("retry-reset", "time to cut off a sensing that a pipelined retry began in vain", range)
        .map(Some)
}
