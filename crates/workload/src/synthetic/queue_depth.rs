//! Queue depth of closed flows.

use crate::error::Illegal;
use interpulse_settings::{ConfigError, Section, default};

/// Largest queue depth: the entries of an NVMe submission queue (65,536) less the one that distinguishes a full queue
/// from an empty one.
const DEPTH_MAX: u32 = 65_535;

pub(crate) fn check_depth(depth: u32) -> Result<(), Illegal> {
    Illegal::unless(depth != 0 && depth <= DEPTH_MAX, "depth", depth, format!("1 to {DEPTH_MAX}"))
}

pub(crate) fn read_depth(s: &mut Section) -> Result<u32, ConfigError> {
    s.u32("depth", "number of outstanding requests", default(1).within(1..=DEPTH_MAX))
}
