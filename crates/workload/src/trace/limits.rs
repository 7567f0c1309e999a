//! What no trace has: more means that it is misread.

/// Longest line in bytes; a longer one means that the file is not a text trace.
pub(super) const LINE_MAX: usize = 4096;
/// Most devices in one trace; more mean that a column is misread.
pub(super) const DEVICES_MAX: usize = 65_536;
