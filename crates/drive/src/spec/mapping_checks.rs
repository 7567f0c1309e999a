//! Consistency checks of a mapping cache.

use super::{DriveSpec, Impossible};
use crate::ftl::page::mapping::cached::spec::MapPartition;
use interpulse_engine::Bytes;

impl DriveSpec {
    pub(super) fn check_mapping(&self) -> Result<(), Impossible> {
        let Some(cache) = self.ftl.mapping.cached() else { return Ok(()) };
        let queues = self.host.queue_weights.len();
        if let MapPartition::ByQueue { shares } = &cache.partition {
            let why = format!(
                "{} shares for {queues} queues: give one for each of host.queue-weights, or none for equal shares",
                shares.len()
            );
            let keys = ["ftl.map-cache-shares", "host.queue-weights"];
            Impossible::unless(shares.is_empty() || shares.len() == queues, &keys, why)?;
        }
        let parts = cache.partition.parts(cache.size, queues);
        let unit = self.geometry.unit_bytes;
        let why = "imposed write amplification has no blocks that translation pages could be in";
        Impossible::unless(!self.ftl.gc.imposes(), &["ftl.mapping", "ftl.gc"], why)?;
        let why = "blocks of an SLC cache hold no translation pages, and folding does not batch the changes of map entries";
        Impossible::unless(self.ftl.slc.is_none(), &["ftl.mapping", "ftl.slc-cache.kind"], why)?;
        let why = "collection by placement handles keeps no blocks for translation pages";
        Impossible::unless(self.ftl.placement.handles() == 0, &["ftl.mapping", "ftl.placement"], why)?;
        let least =
            if cache.format.holds_entries() { 64 * u64::from(cache.format.least(0)) } else { 2 * unit };
        let why = format!(
            "{} is too small for the mapping cache: with map-cache-format = \"{}\" {} needs at least {}",
            cache.size,
            cache.format.name(),
            if parts.len() > 1 { "the part of each queue" } else { "it" },
            Bytes(least)
        );
        let keys = ["ftl.map-cache-size", "ftl.map-cache-format", "ftl.map-cache-partition"];
        let keys = if parts.len() > 1 { &keys[..] } else { &keys[..2] };
        Impossible::unless(parts.iter().all(|&bytes| bytes >= least), keys, why)
    }
}
