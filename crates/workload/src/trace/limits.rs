//! Plausibility limits of traces; larger values indicate a misread file.

/// Longest line in bytes; a longer one indicates a file that is not text.
pub(super) const LINE_MAX: usize = 4096;
/// Most devices in one trace; more indicate a misread column.
pub(super) const DEVICES_MAX: usize = 65_536;
/// Largest address of a trace and largest drive: 2^44 sectors are 8 PiB. Larger numbers count as damage; sums of
/// smaller addresses do not overflow.
pub(crate) const SECTORS_MAX: u64 = 1 << 44;
/// Largest request: 2^21 sectors are 1 GiB.
pub(crate) const REQUEST_SECTORS_MAX: u32 = 1 << 21;
/// Longest time from the first row, after the speed factor: 2^54 ns are 208 days, the range of the event queue.
pub(crate) const SPAN_NS_MAX: u64 = (1 << 54) - 1;
