//! One request to a device.

use crate::size::Bytes;

/// The unit of addresses and lengths: 512 bytes.
pub const SECTOR: Bytes = Bytes(512);

/// Operation of a request.
// With a tag of its own, which one comparison decides; a tag in the values that the zone action leaves takes two.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Return the newest data.
    Read,
    /// Store new data.
    Write,
    /// Deallocate the data.
    Trim,
    /// Make the data zeros, without data from the host (NVMe: Write Zeroes).
    WriteZeroes,
    /// Compare the newest data with data of the host.
    Compare,
    /// Make every completed write durable.
    Flush,
    /// Store new data at the write pointer of the zone that begins at the address; the completion names the place.
    Append,
    /// Manage the zone that begins at the address, or of a commit contains it.
    Zone(ZoneAction),
    /// Access a list of physical addresses (Open-Channel SSD), which [`Device::store_addresses`](crate::Device::store_addresses)
    /// has stored: the sector of the request names the list.
    Vector(VectorAction),
}

/// Class of an operation in latencies and counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpClass {
    /// Reads stored data. NVMe counts comparisons among the reads of its SMART log.
    Read,
    /// Stores data of the host.
    Write,
    /// Neither.
    Other,
}

impl Op {
    /// Class of the operation.
    #[inline(always)]
    pub const fn class(self) -> OpClass {
        match self {
            Op::Read | Op::Compare | Op::Vector(VectorAction::Read) => OpClass::Read,
            Op::Write | Op::Append | Op::Vector(VectorAction::Write) => OpClass::Write,
            Op::Trim | Op::WriteZeroes | Op::Flush | Op::Zone(_) | Op::Vector(VectorAction::Reset) => {
                OpClass::Other
            }
        }
    }
}

/// Zone management (NVMe Zoned Namespace Command Set, Zone Management Send and Receive).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ZoneAction {
    /// Open the zone explicitly.
    Open,
    /// Open the zone, which is empty, explicitly with a random write area (ZRWA).
    OpenZrwa,
    /// Commit the random write area of the zone up to the addressed logical block, which is included (Flush Explicit ZRWA Range).
    Commit,
    /// Close the zone, which stays active.
    Close,
    /// Make the zone full, so that it takes no more data.
    Finish,
    /// Make the zone empty.
    Reset,
    /// Give a read-only zone up.
    Offline,
    /// Return the states of zones from this one on, as many as the length of the request holds.
    Report,
}

/// Vector commands (Open-Channel Solid State Drives Specification 2.0, section 2.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorAction {
    /// Return the data of every address.
    Read,
    /// Store new data at every address, each at the write pointer of its chunk.
    Write,
    /// Make every chunk that begins at an address free.
    Reset,
}

impl VectorAction {
    /// All of them, by number.
    pub const ALL: [VectorAction; 3] = [VectorAction::Read, VectorAction::Write, VectorAction::Reset];
    /// Most addresses of a command.
    pub const MOST_ADDRESSES: u32 = 64;
}

/// One request as it reaches a device's submission queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// First 512-byte sector; that of the namespace for a flush.
    pub sector: u64,
    /// Length in 512-byte sectors; zero for a flush and for zone management other than a report, never zero otherwise.
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

    /// A vector command on the list of `count` addresses of blocks of `block` sectors that `list` names. Its handle is the number of
    /// the action, which stays with it in a waiting line.
    #[inline]
    pub const fn vector(action: VectorAction, list: u64, count: u32, block: u32) -> Request {
        Request { op: Op::Vector(action), sector: list, sectors: count * block, handle: action as u8 }
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
