//! Hedged reads: a read that its drive has not completed in time is issued a second time.

pub(crate) mod hedged_reads;
mod second_reads;
