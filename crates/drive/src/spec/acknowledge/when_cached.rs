//! `when-cached`: completion with the data in the write cache.

use super::{Acknowledge, Acknowledgement};
use interpulse_settings::{ConfigError, Section, default};

/// As soon as the data is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhenCached {
    /// A write to data that waits in the cache takes its place; otherwise every write is programmed.
    pub absorb: bool,
}

impl WhenCached {
    pub(super) fn read(s: &mut Section) -> Result<WhenCached, ConfigError> {
        let doc = "a write to data that waits in the cache takes its place; otherwise every write is programmed";
        Ok(WhenCached { absorb: s.bool("absorb", doc, default(true))? })
    }
}

impl Acknowledge {
    /// As soon as the data is in the cache, where it may be overwritten.
    pub const DEFAULT: Acknowledge = Acknowledge::WhenCached(WhenCached { absorb: true });
}

impl Acknowledgement for WhenCached {
    fn waits_for_programs(&self) -> bool {
        false
    }

    fn absorbs(&self) -> bool {
        self.absorb
    }
}
