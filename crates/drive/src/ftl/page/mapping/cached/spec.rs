//! Keys of the map: full table or mapping cache.

use super::format::{ENTRY_BYTES, MapFormat};
use crate::replacement::MapReplacement;
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional, required};

choices! {
    /// Where the map is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        /// the full table is in controller memory
        Full = "full",
        /// translation pages are on flash, and controller memory caches them (DFTL)
        Cached = "cached",
    }
}

/// Where the map is.
#[derive(Clone, Debug, PartialEq)]
pub enum MappingSpec {
    /// The full table is in controller memory.
    Full,
    /// Translation pages are on flash.
    Cached(MapCacheSpec),
}

keys! {
    /// Mapping cache.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MapCacheSpec, fn keys(s) {
        /// controller memory for cached map entries, without the directory of translation pages and the write-back buffer
        pub size: Bytes = ["map-cache-size"] bytes(default(Bytes::mib(1)).within(Bytes(512)..=Bytes::mib(64 << 10))),
        /// what the mapping cache holds
        pub format: MapFormat = ["map-cache-format"] policy(Some("pages"), MapFormat::ROWS),
        /// what the mapping cache evicts
        pub replacement: MapReplacement = ["map-cache-replacement"] policy(Some("lru"), MapReplacement::ROWS),
        /// what a miss brings along from behind the units looked up: translation pages or, with "entries", entries of the page
        pub prefetch: u32 = ["map-prefetch"] u32(default(0).within(0..=1024)),
        /// changed translation pages gathered in memory before they are programmed together; by default as many as one program
        /// takes
        pub batch: Option<u32> = ["map-write-batch"] optional_u32(optional().within(1..=4096)),
        /// what a read of a translation page for a miss moves over the channel, such as the part that holds the entry; left
        /// out, a whole unit as part.read-transfer says
        pub read_transfer: Option<Bytes> = ["map-read-transfer"] optional_bytes(optional().within(Bytes(1)..=Bytes::mib(16))),
        /// Division of the cache among the queues.
        pub partition: MapPartition => MapPartition::read(s)?,
    }
}

choices! {
    /// Who shares the mapping cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Sharing {
        /// all queues share the cache
        Shared = "shared",
        /// a part for each queue of host.queue-weights: a queue evicts only what it cached, and may hit what others cached
        ByQueue = "by-queue",
    }
}

/// Division of the mapping cache.
#[derive(Clone, Debug, PartialEq)]
pub enum MapPartition {
    /// All queues share it.
    Shared,
    /// A part for each queue.
    ByQueue {
        /// Share of each queue, relative to the others; equal shares if empty.
        shares: Vec<f64>,
    },
}

impl MapPartition {
    /// Key of the shares.
    pub const SHARES: &'static str = "map-cache-shares";

    fn read(s: &mut Section) -> Result<MapPartition, ConfigError> {
        let doc = "who shares the mapping cache";
        let sharing = s.choice("map-cache-partition", doc, Some("shared"), Sharing::ALL)?;
        let shares = s.when(sharing == Sharing::ByQueue, "map-cache-partition = \"by-queue\"", |s| {
            let doc = "share of the mapping cache of each queue of host.queue-weights, relative to the others; left out, equal shares";
            s.list_f64(MapPartition::SHARES, doc, Some(&[]), required().positive().at_most(1e6))
        })?;
        Ok(shares.map_or(MapPartition::Shared, |shares| MapPartition::ByQueue { shares }))
    }

    /// Bytes of each part of a cache of `size`, on a drive with `queues` queues.
    pub fn parts(&self, size: Bytes, queues: usize) -> Vec<u64> {
        let MapPartition::ByQueue { shares } = self else { return vec![size.get()] };
        let sum: f64 = shares.iter().sum();
        let share = |k: usize| shares.get(k).map_or(1.0 / queues as f64, |share| share / sum);
        (0..queues).map(|k| (size.get() as f64 * share(k)) as u64).collect()
    }
}

impl MappingSpec {
    /// Reads where the map is; the keys of the cache, read from `run`, do not change the preconditioned state.
    pub fn read(s: &mut Section, run: &mut Section) -> Result<MappingSpec, ConfigError> {
        let doc = "where the map is: in controller memory, or on flash with a cache of it (DFTL)";
        let kind = s.choice("mapping", doc, Some("full"), Kind::ALL)?;
        let cache = run.when(kind == Kind::Cached, "mapping = \"cached\"", MapCacheSpec::keys)?;
        Ok(cache.map_or(MappingSpec::Full, MappingSpec::Cached))
    }

    /// Mapping cache, if there is one.
    pub fn cached(&self) -> Option<&MapCacheSpec> {
        match self {
            MappingSpec::Full => None,
            MappingSpec::Cached(of) => Some(of),
        }
    }

    /// Translation pages of a map of `logical` units of `unit` bytes; none if the full table is in memory.
    pub fn translation_pages(&self, logical: u64, unit: u64) -> u64 {
        self.cached().map_or(0, |_| logical.div_ceil(unit / u64::from(ENTRY_BYTES)))
    }

    /// Controller memory for the map of `logical` units of `unit` bytes, with programs of `program` units: full table, or
    /// cache, directory and write-back buffer.
    pub fn memory(&self, logical: u64, unit: u64, program: u32) -> Bytes {
        let Some(of) = self.cached() else { return Bytes(logical * u64::from(ENTRY_BYTES)) };
        let directory = self.translation_pages(logical, unit) * u64::from(ENTRY_BYTES);
        Bytes(of.size.get() + directory + of.buffered_pages(program) * unit)
    }
}

impl MapCacheSpec {
    /// Changed translation pages gathered for one write-back, where a program takes `program` units.
    pub fn batch(&self, program: u32) -> u32 {
        self.batch.unwrap_or(program)
    }

    /// Pages of the write-back buffer: one batch being gathered and one being written.
    pub fn buffered_pages(&self, program: u32) -> u64 {
        2 * u64::from(self.batch(program))
    }
}
