//! Batch size in which flows generate requests and pass prefetch hints.

/// Requests per batch of prefetch hints: a device overlaps the cache misses of a batch.
pub const PREFETCH_BATCH: usize = 8;
