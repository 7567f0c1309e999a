//! Consistency checks of a mapping cache.

use super::{DriveSpec, Impossible};
use crate::ftl::page::mapping::cached::format::ENTRY_BYTES;
use crate::ftl::page::mapping::cached::spec::{MapCacheSpec, MapPartition};
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
        self.check_read_transfer(cache)?;
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
    /// What a read of a part of a translation page does not go together with.
    fn check_read_transfer(&self, cache: &MapCacheSpec) -> Result<(), Impossible> {
        let Some(bytes) = cache.read_transfer else { return Ok(()) };
        let key = "ftl.map-read-transfer";
        let why = "the mapping cache holds whole translation pages; with \"entries\" a part of one is enough";
        Impossible::unless(cache.format.holds_entries(), &[key, "ftl.map-cache-format"], why)?;
        let unit = Bytes(self.geometry.unit_bytes);
        let why = format!("{bytes} are more than a translation page, which is a unit of {unit}");
        Impossible::unless(bytes <= unit, &[key, "ftl.mapping-unit"], why)?;
        let brought = u64::from(ENTRY_BYTES) * (1 + u64::from(cache.prefetch));
        let why = format!("{bytes} hold less than the {} that a miss brings into the cache", Bytes(brought));
        Impossible::unless(bytes.get() >= brought, &[key, "ftl.map-prefetch"], why)?;
        let why = "a codeword with errors is decoded whole: a part of one cannot be corrected";
        Impossible::unless(self.nand.errors.is_none(), &[key, "errors.table"], why)
    }
}
