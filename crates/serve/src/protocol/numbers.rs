//! Numbers of the NBD protocol, as its specification lists them.

/// First magic number of a server: `NBDMAGIC`.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// Second magic number of a server, and that of each option of a client: `IHAVEOPT`.
pub const OPTION: u64 = 0x4948_4156_454f_5054;
/// Magic number of a reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Magic number of a request.
pub const REQUEST: u32 = 0x2560_9513;
/// Magic number of a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// Magic number of a chunk of a structured reply.
pub const CHUNK: u32 = 0x668e_33ef;

/// Number that a client gets for the context `base:allocation`.
pub const ALLOCATION_ID: u32 = 1;

/// Flags of the handshake, of server and client alike.
pub mod handshake_flag {
    /// Fixed newstyle: options may fail.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// No 124 zeroes after the reply to `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 2;
}

/// Options of a client.
pub mod option {
    /// Takes an export, without a way to refuse it.
    pub const EXPORT_NAME: u32 = 1;
    /// Ends the handshake.
    pub const ABORT: u32 = 2;
    /// Lists the exports.
    pub const LIST: u32 = 3;
    /// Begins TLS.
    pub const STARTTLS: u32 = 5;
    /// Describes an export.
    pub const INFO: u32 = 6;
    /// Describes an export and takes it.
    pub const GO: u32 = 7;
    /// Structured replies.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// Lists the contexts of block status.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Selects contexts of block status.
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Replies to options.
pub mod option_reply {
    /// The option is done.
    pub const ACK: u32 = 1;
    /// An export.
    pub const SERVER: u32 = 2;
    /// An item of information about an export.
    pub const INFO: u32 = 3;
    /// A context of block status.
    pub const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    /// The server does not know the option.
    pub const UNSUPPORTED: u32 = ERROR + 1;
    /// The option is malformed.
    pub const INVALID: u32 = ERROR + 3;
    /// The option needs TLS.
    pub const TLS_REQUIRED: u32 = ERROR + 5;
    /// There is no such export.
    pub const UNKNOWN: u32 = ERROR + 6;
    /// The option is too long.
    pub const TOO_BIG: u32 = ERROR + 9;
}

/// Items of information about an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Name.
    pub const NAME: u16 = 1;
    /// Description.
    pub const DESCRIPTION: u16 = 2;
    /// Block sizes.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub mod export_flag {
    /// The field is in use.
    pub const HAS_FLAGS: u16 = 1 << 0;
    /// Nothing can be written.
    pub const READ_ONLY: u16 = 1 << 1;
    /// `FLUSH` is understood.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// FUA is understood.
    pub const SEND_FUA: u16 = 1 << 3;
    /// `TRIM` is understood.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// `WRITE_ZEROES` is understood.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// Structured reads in one chunk are possible.
    pub const SEND_DF: u16 = 1 << 7;
    /// A flush of one connection covers the writes of all.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// `WRITE_ZEROES` may have to be fast.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Types of requests.
pub mod request {
    /// Reads.
    pub const READ: u16 = 0;
    /// Writes.
    pub const WRITE: u16 = 1;
    /// Ends the session.
    pub const DISCONNECT: u16 = 2;
    /// Makes completed writes durable.
    pub const FLUSH: u16 = 3;
    /// Deallocates.
    pub const TRIM: u16 = 4;
    /// Writes zeroes.
    pub const WRITE_ZEROES: u16 = 6;
    /// Asks what is allocated.
    pub const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub mod request_flag {
    /// The write is durable when it completes.
    pub const FUA: u16 = 1 << 0;
    /// Zeroes are allocated, not a hole.
    pub const NO_HOLE: u16 = 1 << 1;
    /// The reply is one chunk.
    pub const DF: u16 = 1 << 2;
    /// One extent is enough.
    pub const REQ_ONE: u16 = 1 << 3;
    /// Zeroes that would take as long as a write are an error instead.
    pub const FAST_ZERO: u16 = 1 << 4;
}

/// Chunks of structured replies.
pub mod chunk {
    /// Flag: the last chunk.
    pub const DONE: u16 = 1;
    /// Nothing.
    pub const NONE: u16 = 0;
    /// Data.
    pub const OFFSET_DATA: u16 = 1;
    /// What is allocated.
    pub const BLOCK_STATUS: u16 = 5;
    /// An error.
    pub const ERROR: u16 = (1 << 15) + 1;
}

/// States of extents in the context `base:allocation`.
pub mod extent_flag {
    /// Not allocated.
    pub const HOLE: u32 = 1;
    /// Reads as zeroes.
    pub const ZERO: u32 = 2;
}

/// Error of a request, as the protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorNumber {
    /// The export is read-only.
    NotPermitted = 1,
    /// The drive or its backing file failed.
    InputOutput = 5,
    /// The request is malformed.
    Invalid = 22,
    /// The drive or the file system of its backing file has no room.
    NoSpace = 28,
    /// The reply would be too long.
    Overflow = 75,
    /// The request cannot be done in the way that its flags demand.
    NotSupported = 95,
    /// The server ends.
    Shutdown = 108,
}
