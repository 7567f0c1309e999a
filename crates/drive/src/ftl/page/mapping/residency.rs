//! Map residency: which map entries are in controller memory when a command looks them up.

use crate::ftl::counters::FtlCounters;
use crate::ftl::page::mapping::cached::CachedMap;
use crate::ftl::page::mapping::lookup::Lookup;
use crate::ftl::page::mapping::table::Map;
use crate::numbers::Lpn;
use interpulse_engine::RequestId;

/// Policy that keeps map entries in memory.
#[derive(Default)]
pub enum Residency {
    /// The full table is in memory.
    #[default]
    Full,
    /// Translation pages are on flash, and some entries in memory.
    Cached(Box<CachedMap>),
    /// Every n-th look-up misses: exercises the waiting path in tests.
    #[cfg(feature = "scripted-misses")]
    EveryNth {
        /// Look-ups from one miss to the next; at least 2.
        n: u32,
        /// Look-ups so far.
        looked_up: u32,
    },
}

impl Residency {
    /// Looks up the entries of `units` from `lpn` for the command `tag` of `queue`; a cache counts it.
    #[inline(always)]
    pub(crate) fn look_up(
        &mut self,
        counters: &mut FtlCounters,
        map: &Map,
        tag: RequestId,
        queue: u16,
        lpn: Lpn,
        units: u32,
    ) -> Lookup {
        match self {
            Residency::Full => Lookup::Hit,
            Residency::Cached(cached) => cached.look_up(counters, map, tag, queue, lpn, units),
            #[cfg(feature = "scripted-misses")]
            Residency::EveryNth { n, looked_up } => {
                *looked_up += 1;
                if looked_up.is_multiple_of(*n) { Lookup::Miss(lpn.0) } else { Lookup::Hit }
            }
        }
    }
}
