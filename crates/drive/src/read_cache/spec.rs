//! Keys of the read cache: the section `[read-cache]`.

use crate::replacement::MapReplacement;
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, choices, default, keys, required};

choices! {
    /// What a full partition of the read cache evicts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Eviction {
        /// the unit that was read longest ago
        Lru = "lru",
        /// the unit that was cached longest ago
        Fifo = "fifo",
        /// the unit that was cached longest ago and not read since the last pass (second chance)
        Clock = "clock",
    }
}

impl Eviction {
    /// Its rule, shared with the mapping cache.
    pub(super) fn policy(self) -> MapReplacement {
        match self {
            Eviction::Lru => MapReplacement::Lru,
            Eviction::Fifo => MapReplacement::Fifo,
            Eviction::Clock => MapReplacement::Clock,
        }
    }
}

choices! {
    /// Who shares the slots of the read cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Partitioning {
        /// all queues share the cache
        Shared = "shared",
        /// an equal part for each queue of host.queue-weights: a queue evicts only what it cached, and may hit what others cached
        ByQueue = "by-queue",
    }
}

choices! {
    /// Whether the drive reads ahead of sequential streams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        /// only what the host reads is read
        None = "none",
        /// units that follow those of a sequential stream of reads are read before the host asks for them
        Sequential = "sequential",
    }
}

keys! {
    /// Read cache.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ReadCacheSpec, pub fn read(s) {
        /// DRAM for copies of units that were read; a copy is one mapping unit, and its access takes cache.latency
        pub size: Bytes = bytes(required().within(Bytes::kib(64)..=Bytes::mib(64 << 10)).typical(Bytes::mib(64))),
        /// what the read cache evicts
        pub replacement: Eviction = choice(Some("lru"), Eviction::ALL),
        /// who shares the slots
        pub partition: Partitioning = choice(Some("shared"), Partitioning::ALL),
        /// written data is cached too; if not, a write only drops the copy of what it replaces
        pub fill_on_write: bool = bool(default(false)),
        /// Read-ahead.
        pub ahead: Option<ReadAheadSpec> => ReadAheadSpec::read(s)?,
    }
}

keys! {
    /// Read-ahead of sequential streams.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ReadAheadSpec, fn keys(s) {
        /// consecutive reads after which a stream counts as sequential
        pub after: u32 = ["read-ahead-after"] u32(default(2).within(1..=1024)),
        /// how far behind the last read of a stream data is read ahead
        pub window: Bytes = ["read-ahead-window"] bytes(default(Bytes::kib(512)).within(Bytes::kib(4)..=Bytes::mib(1024))),
        /// pages read ahead at a time, of all streams
        pub depth: u32 = ["read-ahead-depth"] u32(default(32).within(1..=65536)),
        /// streams that are followed at a time; another one replaces the stream that was read longest ago
        pub streams: u32 = ["read-ahead-streams"] u32(default(8).within(1..=1024)),
    }
}

impl ReadAheadSpec {
    fn read(s: &mut Section) -> Result<Option<ReadAheadSpec>, ConfigError> {
        let doc = "whether the drive reads what follows a sequential stream before the host asks for it";
        let kind = s.choice("read-ahead", doc, Some("none"), Kind::ALL)?;
        s.when(kind == Kind::Sequential, "read-ahead = \"sequential\"", ReadAheadSpec::keys)
    }
}

impl ReadCacheSpec {
    /// Partitions on a drive with so many queue pairs.
    pub fn partitions(&self, queues: usize) -> usize {
        match self.partition {
            Partitioning::Shared => 1,
            Partitioning::ByQueue => queues,
        }
    }

    /// Bytes of the simulator's tables for `logical` units of `unit` bytes: a slot number of each, and of each slot its state and
    /// its place in the order.
    pub fn table_bytes(&self, logical: u64, unit: u64) -> u64 {
        4 * logical + 34 * (self.size.get() / unit).min(logical)
    }

    /// Bytes that a partition must hold: the windows of all streams, or 16 units.
    pub fn least_of_partition(&self, unit: u64) -> Bytes {
        let windows = self.ahead.map_or(0, |of| of.window.get().saturating_mul(u64::from(of.streams)));
        Bytes(windows.max(16 * unit))
    }
}
