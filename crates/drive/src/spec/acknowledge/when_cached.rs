//! `when-cached`: completion with the data in the write cache.

use super::{Acknowledge, Acknowledgement};
use interpulse_settings::{ConfigError, Section, default};

/// Completion with the data in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhenCached {
    /// Writes overwrite dirty data in the cache; otherwise every write is programmed.
    pub absorb: bool,
}

impl WhenCached {
    pub(super) fn read(s: &mut Section) -> Result<WhenCached, ConfigError> {
        let doc =
            "a write overwrites dirty data of its unit in the cache; otherwise every write is programmed";
        Ok(WhenCached { absorb: s.bool("absorb", doc, default(true))? })
    }
}

impl Acknowledge {
    /// Completion with the data in the cache, where it may be overwritten.
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
