//! Replies to requests: simple ones, and structured ones after the client has asked for them.

use super::fields::Put;
use super::numbers::{self, ALLOCATION_ID, ErrorNumber, chunk};

/// Extent of a block status: bytes, and its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub bytes: u32,
    /// Flags of `base:allocation`.
    pub flags: u32,
}

/// Form of the replies to one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    /// Structured replies.
    pub structured: bool,
    /// The context `base:allocation` is selected.
    pub contexts: bool,
}

impl Replies {
    /// Appends the reply to a request that returns nothing.
    pub fn done(self, out: &mut Vec<u8>, cookie: u64) {
        if self.structured {
            head(out, chunk::NONE, cookie, 0);
        } else {
            simple(out, cookie, 0);
        }
    }

    /// Appends the head of the reply to a read of `bytes` at `offset`; the data follow it.
    pub fn read_head(self, out: &mut Vec<u8>, cookie: u64, offset: u64, bytes: u32) {
        if self.structured {
            head(out, chunk::OFFSET_DATA, cookie, 8 + bytes);
            out.put_u64(offset);
        } else {
            simple(out, cookie, 0);
        }
    }

    /// Appends the reply to a request for the block status.
    pub fn extents(self, out: &mut Vec<u8>, cookie: u64, extents: &[Extent]) {
        head(out, chunk::BLOCK_STATUS, cookie, 4 + 8 * extents.len() as u32);
        out.put_u32(ALLOCATION_ID);
        for extent in extents {
            out.put_u32(extent.bytes);
            out.put_u32(extent.flags);
        }
    }

    /// Appends an error.
    pub fn error(self, out: &mut Vec<u8>, cookie: u64, error: ErrorNumber, why: &str) {
        if self.structured {
            head(out, chunk::ERROR, cookie, 6 + why.len() as u32);
            out.put_u32(error as u32);
            out.put_u16(why.len() as u16);
            out.extend_from_slice(why.as_bytes());
        } else {
            simple(out, cookie, error as u32);
        }
    }
}

fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.put_u32(numbers::SIMPLE_REPLY);
    out.put_u32(error);
    out.put_u64(cookie);
}

/// Head of the one chunk of a reply.
fn head(out: &mut Vec<u8>, kind: u16, cookie: u64, bytes: u32) {
    out.put_u32(numbers::CHUNK);
    out.put_u16(chunk::DONE);
    out.put_u16(kind);
    out.put_u64(cookie);
    out.put_u32(bytes);
}
