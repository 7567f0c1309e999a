//! How many requests a closed flow keeps outstanding.

use crate::error::Illegal;
use interpulse_settings::{ConfigError, Section, default};

/// Most requests a closed flow may keep outstanding: the entries of an NVMe submission queue (65,536) less
/// the one that tells a full queue from an empty one.
const DEPTH_MAX: u32 = 65_535;

/// An error unless `depth` is a legal queue depth.
pub(crate) fn check_depth(depth: u32) -> Result<(), Illegal> {
    Illegal::unless(depth != 0 && depth <= DEPTH_MAX, "depth", depth, format!("1 to {DEPTH_MAX}"))?;
    Ok(())
}

/// Reads the queue depth of a closed loop.
pub(crate) fn read_depth(s: &mut Section) -> Result<u32, ConfigError> {
    s.u32("depth", "requests kept outstanding", default(1).within(1..=DEPTH_MAX))
}
