//! `by-handle`: writes that name one of some placement handles or streams go through the SLC cache.
//!
//! Each handle has super blocks of its own in SLC mode, and folded data goes where relocated data of the handle goes.

use super::{Admits, HandleSet};
use crate::ftl::page::placement::MOST_HANDLES;
use interpulse_settings::{ConfigError, Section, required};

/// Placement handles whose writes go through the SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByHandle {
    /// Their numbers.
    pub handles: HandleSet,
}

impl ByHandle {
    /// Reads its keys.
    pub(crate) fn read(s: &mut Section) -> Result<ByHandle, ConfigError> {
        let doc = "placement handles or streams of the writes that go through the SLC cache";
        let handles = s.list_u32("admitted-handles", doc, None, required().within(0..=MOST_HANDLES - 1))?;
        let differ = handles.iter().enumerate().all(|(k, of)| !handles[..k].contains(of));
        s.check(differ && !handles.is_empty(), "admitted-handles", "one or more different handles")?;
        Ok(ByHandle { handles: HandleSet::new(&handles) })
    }
}

impl Admits for ByHandle {
    fn handles(&self) -> Option<HandleSet> {
        Some(self.handles)
    }
}
