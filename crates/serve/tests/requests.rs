//! Are requests parsed as the specification says, and are malformed ones refused?

use crate::handshake::export;
use interpulse_serve::protocol::numbers::{REQUEST, request, request_flag};
use interpulse_serve::protocol::requests::{HEAD, expected, receive};
use interpulse_serve::protocol::{Ask, ErrorNumber, Export, Extent, Fault, Next, Replies, Request};

const PLAIN: Replies = Replies { structured: false, contexts: false };
const FULL: Replies = Replies { structured: true, contexts: true };

/// A request as a client sends it, without payload.
pub fn request_bytes(flags: u16, kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = REQUEST.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(77_u64.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

fn parsed(replies: Replies, flags: u16, kind: u16, offset: u64, length: u32) -> Result<Ask, u32> {
    parsed_by(&export(), replies, flags, kind, offset, length)
}

/// What the request asks for, or the number of its error.
fn parsed_by(
    export: &Export,
    replies: Replies,
    flags: u16,
    kind: u16,
    offset: u64,
    length: u32,
) -> Result<Ask, u32> {
    let mut bytes = request_bytes(flags, kind, offset, length);
    if kind == request::WRITE {
        bytes.resize(HEAD + length as usize, 9);
    }
    let mut out = Vec::new();
    for cut in [0, 3, 4, HEAD - 1, bytes.len() - 1] {
        assert_eq!(receive(export, replies, &bytes[..cut], &mut out), Ok((0, Next::More)), "{cut}");
    }
    assert_eq!(expected(&bytes), Some(bytes.len()));
    bytes.push(1);
    let (taken, next) = receive(export, replies, &bytes, &mut out).unwrap();
    assert_eq!(taken, bytes.len() - 1);
    match next {
        Next::Request(found) => {
            assert_eq!(found, Request { cookie: 77, ask: found.ask, offset, length });
            assert!(out.is_empty());
            Ok(found.ask)
        }
        Next::Refused => {
            let at = if replies.structured { 20 } else { 4 };
            assert_eq!(out[8..16], 77_u64.to_be_bytes());
            Err(u32::from_be_bytes(out[at..at + 4].try_into().unwrap()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_type_is_parsed_with_its_flags() {
    use request_flag::*;
    for (flags, kind, length, ask) in [
        (0, request::READ, 512, Ask::Read),
        (DF, request::READ, 512, Ask::Read),
        (0, request::WRITE, 4096, Ask::Write { fua: false }),
        (FUA, request::WRITE, 4096, Ask::Write { fua: true }),
        (0, request::FLUSH, 0, Ask::Flush),
        (0, request::TRIM, 8 << 20, Ask::Trim { fua: false }),
        (FUA, request::TRIM, 512, Ask::Trim { fua: true }),
        (NO_HOLE, request::WRITE_ZEROES, 512, Ask::WriteZeroes { fua: false, no_hole: true }),
        (FUA | FAST_ZERO, request::WRITE_ZEROES, 512, Ask::WriteZeroes { fua: true, no_hole: false }),
        (REQ_ONE, request::BLOCK_STATUS, 512, Ask::BlockStatus { one: true }),
    ] {
        assert_eq!(parsed(FULL, flags, kind, 0, length), Ok(ask), "{flags} {kind}");
    }
}

#[test]
fn what_the_export_cannot_do_has_the_error_of_the_specification() {
    use request_flag::*;
    let (size, invalid) = (8 << 20, ErrorNumber::Invalid as u32);
    for (flags, kind, offset, length, error) in [
        (0, request::READ, size, 512, invalid),
        (0, request::READ, size - 512, 1024, invalid),
        (0, request::READ, u64::MAX - 511, 512, invalid),
        (0, request::READ, 0, 0, invalid),
        (0, request::READ, 1, 512, invalid),
        (0, request::READ, 0, 513, invalid),
        (0, request::READ, 0, 64 << 20, ErrorNumber::Overflow as u32),
        (0, request::WRITE, size, 512, ErrorNumber::NoSpace as u32),
        (0, request::WRITE_ZEROES, size, 512, ErrorNumber::NoSpace as u32),
        (0, request::TRIM, size, 512, invalid),
        (0, request::FLUSH, 512, 0, invalid),
        (0, request::FLUSH, 0, 512, invalid),
        (NO_HOLE, request::WRITE, 0, 512, invalid),
        (1 << 15, request::READ, 0, 512, invalid),
        (NO_HOLE | FAST_ZERO, request::WRITE_ZEROES, 0, 512, ErrorNumber::NotSupported as u32),
        (0, 5, 0, 512, invalid),
        (0, 8, 0, 512, invalid),
        (0, 999, 0, 512, invalid),
    ] {
        assert_eq!(parsed(FULL, flags, kind, offset, length), Err(error), "{kind} {offset} {length}");
        assert_eq!(parsed(PLAIN, flags, kind, offset, length), Err(error), "{kind} {offset} {length}");
    }
    assert_eq!(parsed(PLAIN, DF, request::READ, 0, 512), Err(invalid));
    assert_eq!(parsed(PLAIN, 0, request::BLOCK_STATUS, 0, 512), Err(invalid));
}

#[test]
fn a_read_only_export_refuses_writes_and_one_without_trims_refuses_these() {
    let read_only = Export { is_read_only: true, ..export() };
    for kind in [request::WRITE, request::TRIM, request::WRITE_ZEROES] {
        assert_eq!(parsed_by(&read_only, FULL, 0, kind, 0, 512), Err(ErrorNumber::NotPermitted as u32));
    }
    assert_eq!(parsed_by(&read_only, FULL, 0, request::READ, 0, 512), Ok(Ask::Read));
    let no_trim = Export { can_trim: false, ..export() };
    assert_eq!(parsed_by(&no_trim, FULL, 0, request::TRIM, 0, 512), Err(ErrorNumber::Invalid as u32));
}

#[test]
fn what_cannot_be_followed_closes_the_connection() {
    let mut bytes = request_bytes(0, request::WRITE, 0, (32 << 20) + 512);
    let failed = receive(&export(), FULL, &bytes, &mut Vec::new());
    assert_eq!(failed, Err(Fault::TooLong((32 << 20) + 512)));
    bytes[0] = 1;
    let failed = receive(&export(), FULL, &bytes[..4], &mut Vec::new());
    assert_eq!(failed, Err(Fault::RequestMagic(0x0160_9513)));
    let bytes = request_bytes(0, request::DISCONNECT, 5, 6);
    assert_eq!(receive(&export(), FULL, &bytes, &mut Vec::new()), Ok((HEAD, Next::Disconnect)));
}

#[test]
fn replies_have_the_layout_of_the_specification() {
    let mut out = Vec::new();
    PLAIN.done(&mut out, 77);
    PLAIN.error(&mut out, 77, ErrorNumber::InputOutput, "words that a simple reply has no room for");
    PLAIN.read_head(&mut out, 77, 512, 4096);
    let cookie = [0, 0, 0, 0, 0, 0, 0, 77];
    let simple = |error| [&[0x67, 0x44, 0x66, 0x98, 0, 0, 0, error], &cookie[..]].concat();
    assert_eq!(out, [simple(0), simple(5), simple(0)].concat());

    let mut out = Vec::new();
    FULL.done(&mut out, 77);
    FULL.read_head(&mut out, 77, 512, 4096);
    FULL.extents(&mut out, 77, &[Extent { bytes: 512, flags: 3 }, Extent { bytes: 1024, flags: 0 }]);
    FULL.error(&mut out, 77, ErrorNumber::NoSpace, "full");
    let chunk = |kind: [u8; 2], data: &[u8]| {
        let head = [0x66, 0x8e, 0x33, 0xef, 0, 1];
        [&head, &kind[..], &cookie, &(data.len() as u32).to_be_bytes(), data].concat()
    };
    let numbers = |of: &[u32]| of.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>();
    let mut read = chunk([0, 1], &512_u64.to_be_bytes());
    read[16..20].copy_from_slice(&4104_u32.to_be_bytes());
    let expected = [
        chunk([0, 0], &[]),
        read,
        chunk([0, 5], &numbers(&[1, 512, 3, 1024, 0])),
        chunk([0x80, 1], &[0, 0, 0, 28, 0, 4, b'f', b'u', b'l', b'l']),
    ];
    assert_eq!(out, expected.concat());
}
