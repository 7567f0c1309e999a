//! One request to a device.

use crate::size::Bytes;

/// The unit of addresses and lengths: 512 bytes.
pub const SECTOR: Bytes = Bytes(512);

/// Operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Return the newest data.
    Read,
    /// Store new data.
    Write,
    /// Deallocate the data.
    Trim,
    /// Make every completed write durable.
    Flush,
}

/// One request as it reaches a device's submission queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// First 512-byte sector; zero for a flush.
    pub sector: u64,
    /// Length in 512-byte sectors; zero for a flush, never zero otherwise.
    pub sectors: u32,
    /// Placement handle that a write names (NVMe: placement handle or stream of the Directive Specific field).
    pub handle: u8,
}

const _: () = assert!(size_of::<Request>() == 16);

impl Request {
    /// A flush, which has no address.
    pub const FLUSH: Request = Request::new(Op::Flush, 0, 0);

    /// A request that names no placement handle: its data belongs to handle 0.
    #[inline]
    pub const fn new(op: Op, sector: u64, sectors: u32) -> Request {
        Request { op, sector, sectors, handle: 0 }
    }

    /// The first sector after the request.
    #[inline]
    pub const fn end(self) -> u64 {
        self.sector + self.sectors as u64
    }

    /// The length in bytes.
    #[inline]
    pub const fn bytes(self) -> Bytes {
        Bytes(self.sectors as u64 * SECTOR.0)
    }
}
