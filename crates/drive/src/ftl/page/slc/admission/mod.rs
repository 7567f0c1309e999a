//! Admission: which host data goes through an SLC cache.

use crate::ftl::page::placement::MOST_HANDLES;
use interpulse_engine::Bytes;
use interpulse_settings::registry;

registry! {
    $ /// Host data that goes through an SLC cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Admission, each_admission {
        "all-writes" => all_writes::AllWrites: "every write; with ftl.hotness, hot data";
        "small-writes" => small_writes::SmallWrites(it): "writes up to a size";
        "by-handle" => by_handle::ByHandle(it): "writes that name one of some placement handles or streams";
    }
}

/// Choice of the host data that goes through an SLC cache.
trait Admits {
    /// Largest write that it admits, if there is a limit.
    fn largest_write(&self) -> Option<Bytes> {
        None
    }

    /// Placement handles that it names; `None` if it admits the writes of each.
    fn handles(&self) -> Option<HandleSet> {
        None
    }
}

impl Admission {
    /// Largest write that it admits, if there is a limit.
    pub fn largest_write(&self) -> Option<Bytes> {
        each_admission!(self, it => it.largest_write())
    }

    /// Placement handles that it names; `None` if it admits the writes of each.
    pub fn handles(&self) -> Option<HandleSet> {
        each_admission!(self, it => it.handles())
    }

    /// Whether it admits writes of a placement handle.
    pub fn admits(&self, handle: u32) -> bool {
        self.handles().is_none_or(|handles| handles.contains(handle))
    }
}

/// Set of placement handles, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleSet(u64);

const _: () = assert!(MOST_HANDLES <= u64::BITS);

impl HandleSet {
    /// Set of `handles`.
    pub fn new(handles: &[u32]) -> HandleSet {
        HandleSet(handles.iter().fold(0, |set, handle| set | 1 << handle))
    }

    /// Whether it has `handle`.
    pub fn contains(self, handle: u32) -> bool {
        self.0 >> handle & 1 == 1
    }

    /// The highest handle of it.
    pub fn highest(self) -> u32 {
        self.0.checked_ilog2().unwrap_or(0)
    }
}
