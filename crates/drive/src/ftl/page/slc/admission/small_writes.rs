//! `small-writes`: writes up to a size go through the SLC cache.

use super::Admits;
use interpulse_engine::Bytes;
use interpulse_settings::{keys, required};

keys! {
    /// Writes up to a size.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SmallWrites, pub(crate) fn read(s) {
        /// largest write that goes through the SLC cache
        pub largest_write: Bytes = bytes(required().positive().typical(Bytes::kib(64))),
    }
}

impl Admits for SmallWrites {
    fn largest_write(&self) -> Option<Bytes> {
        Some(self.largest_write)
    }
}
