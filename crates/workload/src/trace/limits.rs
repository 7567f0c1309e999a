//! What no trace has: more means that it is misread.

/// Longest line in bytes; a longer one means that the file is not a text trace.
pub(super) const LINE_MAX: usize = 4096;
/// Most devices in one trace; more mean that a column is misread.
pub(super) const DEVICES_MAX: usize = 65_536;
/// Largest address a trace may touch and largest drive: 2^44 sectors are 8 PiB. Numbers beyond are taken
/// for damage; below, no sum of addresses overflows.
pub(crate) const SECTORS_MAX: u64 = 1 << 44;
/// Largest request: 2^21 sectors are 1 GiB.
pub(crate) const REQUEST_SECTORS_MAX: u32 = 1 << 21;
/// Longest time from the first row, after the speed factor: 2^54 ns are 208 days, the reach of an event queue.
pub(crate) const SPAN_NS_MAX: u64 = (1 << 54) - 1;
