//! `static-and-dynamic`: blocks set aside on each lane, and beyond them blocks borrowed from the free ones.

use super::{Region, Space};
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, keys, required};

keys! {
    /// Blocks set aside, and borrowed ones.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StaticAndDynamic, fn keys(s, run: &mut Section) {
        /// data that the blocks set aside for the SLC cache hold, in whole super blocks of every lane
        pub size: Bytes = bytes(required().positive().typical(Bytes::mib(6 << 10))),
        // It affects a run but not its initial state.
        /// most data that borrowed blocks hold beyond `size`, in whole super blocks of every lane
        pub dynamic_size: Bytes = (run) bytes(required().positive().typical(Bytes::mib(36 << 10))),
    }
}

impl StaticAndDynamic {
    /// Reads its keys, of which one decides what blocks preconditioning may use.
    pub(crate) fn read(s: &mut Section) -> Result<StaticAndDynamic, ConfigError> {
        let mut run = s.clone();
        StaticAndDynamic::keys(&mut s.shaping_state(), &mut run)
    }
}

impl Region for StaticAndDynamic {
    fn size(&self) -> Bytes {
        Bytes(self.size.get().saturating_add(self.dynamic_size.get()))
    }

    fn own_size(&self) -> Bytes {
        self.size
    }

    fn may_open(&self, lane: &Space) -> bool {
        lane.own > 0 || (lane.used < lane.most && lane.to_spare > 0)
    }
}
