//! Export: what a client learns of the drive, and what it may send.

use super::numbers::export_flag;

/// Least length of a request, and alignment of offsets and lengths, in bytes.
pub const MIN_BLOCK: u32 = 512;
/// Length of efficient requests, in bytes.
pub const PREFERRED_BLOCK: u32 = 4096;
/// Longest read or write, in bytes: what clients that ask for no block sizes assume.
pub const MAX_PAYLOAD: u32 = 32 << 20;

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Name that clients ask for; the empty name is this export too.
    pub name: String,
    /// Description in words.
    pub description: String,
    /// Size in bytes, a multiple of [`MIN_BLOCK`].
    pub bytes: u64,
    /// Nothing can be written.
    pub is_read_only: bool,
    /// Trims are executed.
    pub can_trim: bool,
}

impl Export {
    /// Whether a client that asks for `name` means this export.
    pub fn is_named(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// Flags of the transmission phase.
    pub fn flags(&self, structured_replies: bool) -> u16 {
        use export_flag::*;
        let mut flags = HAS_FLAGS | SEND_FLUSH | CAN_MULTI_CONN;
        flags |= if self.is_read_only { READ_ONLY } else { SEND_FUA | SEND_WRITE_ZEROES | SEND_FAST_ZERO };
        if self.can_trim && !self.is_read_only {
            flags |= SEND_TRIM;
        }
        if structured_replies {
            flags |= SEND_DF;
        }
        flags
    }
}
