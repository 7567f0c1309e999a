//! `all-writes`: every write goes through the SLC cache.

use super::Admits;

/// Every write.
pub struct AllWrites;

impl Admits for AllWrites {}
