//! Requests of the transmission phase: parsed, and refused where they are malformed.

use super::export::{Export, MAX_PAYLOAD, MIN_BLOCK};
use super::fault::Fault;
use super::fields::Fields;
use super::numbers::{self, ErrorNumber, request, request_flag};
use super::replies::Replies;

/// Length of the head of a request, in bytes.
pub const HEAD: usize = 28;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Data.
    Read,
    /// Writes the payload.
    Write {
        /// Durable when it completes.
        fua: bool,
    },
    /// Makes completed writes durable.
    Flush,
    /// Deallocates.
    Trim {
        /// Durable when it completes.
        fua: bool,
    },
    /// Writes zeroes.
    WriteZeroes {
        /// Durable when it completes.
        fua: bool,
        /// The zeroes are allocated.
        no_hole: bool,
    },
    /// Block status.
    BlockStatus {
        /// One extent is enough.
        one: bool,
    },
}

/// A request that the export can execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number that the client gave it.
    pub cookie: u64,
    /// What it asks for.
    pub ask: Ask,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

/// What the front of the input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Less than a request.
    More,
    /// A request; the payload of a write is the bytes behind its head.
    Request(Request),
    /// A refused request, whose reply has been appended.
    Refused,
    /// The client ends the session.
    Disconnect,
}

/// Takes one request with its payload from the front of `input`; a refusal is appended to `out`. Returns the number of bytes taken.
///
/// # Errors
/// [`Fault`]: the connection must be closed, since the next request cannot be found.
pub fn receive(
    export: &Export,
    replies: Replies,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(usize, Next), Fault> {
    let mut fields = Fields(input);
    let Some(magic) = fields.u32() else { return Ok((0, Next::More)) };
    if magic != numbers::REQUEST {
        return Err(Fault::RequestMagic(magic));
    }
    let head = (|| Some((fields.u16()?, fields.u16()?, fields.u64()?, fields.u64()?, fields.u32()?)))();
    let Some((flags, kind, cookie, offset, length)) = head else { return Ok((0, Next::More)) };
    let mut taken = HEAD;
    if kind == request::WRITE {
        if length > MAX_PAYLOAD {
            return Err(Fault::TooLong(length));
        }
        taken += length as usize;
        if input.len() < taken {
            return Ok((0, Next::More));
        }
    }
    if kind == request::DISCONNECT {
        return Ok((taken, Next::Disconnect));
    }
    let next = match check(export, replies, flags, kind, offset, length) {
        Ok(ask) => Next::Request(Request { cookie, ask, offset, length }),
        Err((error, why)) => {
            replies.error(out, cookie, error, why);
            Next::Refused
        }
    };
    Ok((taken, next))
}

/// Number of bytes that the request at the front of `input` takes with its payload; `None` before its head is complete.
pub fn expected(input: &[u8]) -> Option<usize> {
    let mut fields = Fields(input.get(..HEAD)?);
    let (_, _, kind) = (fields.u32(), fields.u16(), fields.u16()?);
    let (_, _, length) = (fields.u64(), fields.u64(), fields.u32()?);
    Some(HEAD + if kind == request::WRITE { length.min(MAX_PAYLOAD) as usize } else { 0 })
}

type Refusal = (ErrorNumber, &'static str);

fn check(
    export: &Export,
    replies: Replies,
    flags: u16,
    kind: u16,
    offset: u64,
    length: u32,
) -> Result<Ask, Refusal> {
    use request_flag::{DF, FAST_ZERO, FUA, NO_HOLE, REQ_ONE};
    let invalid = |why| Err((ErrorNumber::Invalid, why));
    let fua = flags & FUA != 0;
    let (ask, legal) = match kind {
        request::READ => (Ask::Read, FUA | if replies.structured { DF } else { 0 }),
        request::WRITE => (Ask::Write { fua }, FUA),
        request::FLUSH => (Ask::Flush, FUA),
        request::TRIM => (Ask::Trim { fua }, FUA),
        request::WRITE_ZEROES => {
            (Ask::WriteZeroes { fua, no_hole: flags & NO_HOLE != 0 }, FUA | NO_HOLE | FAST_ZERO)
        }
        request::BLOCK_STATUS => (Ask::BlockStatus { one: flags & REQ_ONE != 0 }, FUA | REQ_ONE),
        _ => return invalid("the type of request is not one of those that the export offers"),
    };
    if flags & !legal != 0 {
        return invalid("the request has a flag that is not legal for its type");
    }
    let writes = !matches!(ask, Ask::Read | Ask::Flush | Ask::BlockStatus { .. });
    if writes && export.is_read_only {
        return Err((ErrorNumber::NotPermitted, "the export is read-only"));
    }
    match ask {
        Ask::Flush if offset != 0 || length != 0 => return invalid("a flush has no offset and no length"),
        Ask::Flush => return Ok(ask),
        Ask::Trim { .. } if !export.can_trim => return invalid("the drive does not execute trims"),
        Ask::BlockStatus { .. } if !replies.contexts => {
            return invalid("no context of block status is selected");
        }
        Ask::Read if length > MAX_PAYLOAD => {
            return Err((ErrorNumber::Overflow, "at most 32 MiB can be read by one request"));
        }
        Ask::WriteZeroes { no_hole: true, .. } if flags & FAST_ZERO != 0 => {
            return Err((ErrorNumber::NotSupported, "allocated zeroes take as long as a write"));
        }
        _ => {}
    }
    if length == 0 {
        return invalid("the length is 0");
    }
    if !offset.is_multiple_of(MIN_BLOCK.into()) || !length.is_multiple_of(MIN_BLOCK) {
        return invalid("offset and length must be multiples of 512 bytes");
    }
    if offset.checked_add(length.into()).is_none_or(|end| end > export.bytes) {
        let grows = matches!(ask, Ask::Write { .. } | Ask::WriteZeroes { .. });
        let error = if grows { ErrorNumber::NoSpace } else { ErrorNumber::Invalid };
        return Err((error, "the request reaches beyond the end of the export"));
    }
    Ok(ask)
}
