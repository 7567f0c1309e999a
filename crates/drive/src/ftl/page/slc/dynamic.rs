//! `dynamic`: blocks borrowed from the free ones beyond those with which collection begins.

use super::{Region, Space};
use interpulse_engine::Bytes;
use interpulse_settings::{keys, required};

keys! {
    /// Borrowed blocks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Dynamic, pub(crate) fn read(s) {
        /// most data that the SLC cache holds, in whole super blocks of every lane
        pub size: Bytes = bytes(required().positive().typical(Bytes::mib(42 << 10))),
    }
}

impl Region for Dynamic {
    fn size(&self) -> Bytes {
        self.size
    }

    fn own_size(&self) -> Bytes {
        Bytes(0)
    }

    fn may_open(&self, lane: &Space) -> bool {
        lane.used < lane.most && lane.to_spare > 0
    }
}
