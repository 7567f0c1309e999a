//! `static`: blocks set aside on each lane, which take no other data.

use super::{Region, Space};
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, keys, required};

keys! {
    /// Blocks set aside.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Static, fn keys(s) {
        /// data that the SLC cache holds, in whole super blocks of every lane
        pub size: Bytes = bytes(required().positive().typical(Bytes::mib(6 << 10))),
    }
}

impl Static {
    /// Reads its keys, which decide what blocks preconditioning may use.
    pub(crate) fn read(s: &mut Section) -> Result<Static, ConfigError> {
        Static::keys(&mut s.shaping_state())
    }
}

impl Region for Static {
    fn size(&self) -> Bytes {
        self.size
    }

    fn own_size(&self) -> Bytes {
        self.size
    }

    fn may_open(&self, lane: &Space) -> bool {
        lane.own > 0
    }
}
