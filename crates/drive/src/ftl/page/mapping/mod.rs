//! Mapping: the logical-to-physical table, its only writer, look-ups and relocation.

pub(crate) mod bit_scan;
pub mod cached;
pub mod lookup;
pub mod reads;
pub mod relocation;
pub mod residency;
pub mod state;
pub mod table;
