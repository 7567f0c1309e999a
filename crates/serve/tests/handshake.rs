//! Does the handshake answer each option as the specification says?

use interpulse_serve::protocol::numbers::{GREETING, OPTION, OPTION_REPLY, info, option, option_reply};
use interpulse_serve::protocol::{Export, Fault, Handshake, Reached, Replies, Tls};

/// An export of 8 MiB.
pub fn export() -> Export {
    Export {
        name: "drive".into(),
        description: "a4-mini".into(),
        bytes: 8 << 20,
        is_read_only: false,
        can_trim: true,
    }
}

/// An option as a client sends it.
pub fn option_bytes(code: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION.to_be_bytes().to_vec();
    bytes.extend(code.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn text(of: &str) -> Vec<u8> {
    [&(of.len() as u32).to_be_bytes(), of.as_bytes()].concat()
}

/// Data of `INFO` and `GO`.
fn about(name: &str, items: &[u16]) -> Vec<u8> {
    let mut data = text(name);
    data.extend((items.len() as u16).to_be_bytes());
    items.iter().for_each(|item| data.extend(item.to_be_bytes()));
    data
}

/// Data of the options of contexts.
fn queries(name: &str, of: &[&str]) -> Vec<u8> {
    let mut data = text(name);
    data.extend((of.len() as u32).to_be_bytes());
    of.iter().for_each(|query| data.extend(text(query)));
    data
}

struct Client {
    handshake: Handshake,
    export: Export,
}

impl Client {
    fn new(tls: Tls, flags: u32) -> Client {
        let mut out = Vec::new();
        let mut handshake = Handshake::begin(tls, &mut out);
        assert_eq!(out, [&GREETING.to_be_bytes()[..], &OPTION.to_be_bytes(), &[0, 3]].concat());
        let taken = handshake.receive(&export(), &flags.to_be_bytes(), &mut Vec::new());
        assert_eq!(taken, Ok((4, Reached::More)));
        Client { handshake, export: export() }
    }

    /// Sends an option; the types and data of the replies, and what the handshake has reached.
    fn send(&mut self, code: u32, data: &[u8]) -> (Vec<(u32, Vec<u8>)>, Reached) {
        let (bytes, mut out) = (option_bytes(code, data), Vec::new());
        let (taken, reached) = self.handshake.receive(&self.export, &bytes, &mut out).unwrap();
        assert_eq!(taken, bytes.len());
        let (mut rest, mut replies) = (&out[..], Vec::new());
        while !rest.is_empty() {
            assert_eq!(rest[..8], OPTION_REPLY.to_be_bytes());
            assert_eq!(rest[8..12], code.to_be_bytes());
            let field = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
            let length = field(16) as usize;
            replies.push((field(12), rest[20..20 + length].to_vec()));
            rest = &rest[20 + length..];
        }
        (replies, reached)
    }

    fn kinds(&mut self, code: u32, data: &[u8]) -> Vec<u32> {
        self.send(code, data).0.iter().map(|(kind, _)| *kind).collect()
    }
}

#[test]
fn go_describes_the_export_and_begins_the_transmission() {
    let mut client = Client::new(Tls::Off, 3);
    let (replies, reached) = client.send(option::GO, &about("drive", &[info::NAME, info::DESCRIPTION]));
    assert_eq!(reached, Reached::Transmission(Replies::default()));
    let block_sizes = [512_u32, 4096, 32 << 20].map(u32::to_be_bytes).concat();
    // Flags, flush, FUA, trim, zeroes, several connections, fast zeroes.
    let flags: u16 = 0b1001_0110_1101;
    let expected = [
        (option_reply::INFO, [&[0, 1], &b"drive"[..]].concat()),
        (option_reply::INFO, [&[0, 2], &b"a4-mini"[..]].concat()),
        (option_reply::INFO, [&[0, 3], &block_sizes[..]].concat()),
        (option_reply::INFO, [&[0, 0], &(8_u64 << 20).to_be_bytes()[..], &flags.to_be_bytes()].concat()),
        (option_reply::ACK, Vec::new()),
    ];
    assert_eq!(replies, expected);
}

#[test]
fn info_leaves_the_handshake_open_and_an_unknown_name_is_refused() {
    let mut client = Client::new(Tls::Off, 3);
    let (replies, reached) = client.send(option::INFO, &about("", &[]));
    assert_eq!((replies.len(), reached), (3, Reached::More));
    assert_eq!(client.kinds(option::GO, &about("other", &[])), [option_reply::UNKNOWN]);
    assert_eq!(client.kinds(option::LIST, &[]), [option_reply::SERVER, option_reply::ACK]);
    assert_eq!(client.send(option::ABORT, &[]).1, Reached::Ended);
}

#[test]
fn a_read_only_export_offers_no_writes() {
    let mut client = Client::new(Tls::Off, 3);
    client.export.is_read_only = true;
    let (replies, _) = client.send(option::INFO, &about("", &[]));
    // Flags, read-only, flush, several connections.
    assert_eq!(replies[1].1[10..], 0b1_0000_0111_u16.to_be_bytes());
}

#[test]
fn export_name_sends_124_zeroes_unless_the_client_declines() {
    for (flags, length) in [(3, 10), (1, 134), (0, 134)] {
        let (mut client, mut out) = (Client::new(Tls::Off, flags), Vec::new());
        let bytes = option_bytes(option::EXPORT_NAME, b"drive");
        let (_, reached) = client.handshake.receive(&export(), &bytes, &mut out).unwrap();
        assert_eq!((out.len(), reached), (length, Reached::Transmission(Replies::default())));
    }
    let bytes = option_bytes(option::EXPORT_NAME, b"other");
    let failed = Client::new(Tls::Off, 3).handshake.receive(&export(), &bytes, &mut Vec::new());
    assert_eq!(failed, Err(Fault::UnknownExport));
}

#[test]
fn contexts_need_structured_replies_and_belong_to_one_name() {
    let mut client = Client::new(Tls::Off, 3);
    let select = queries("drive", &["base:allocation", "other:thing"]);
    assert_eq!(client.kinds(option::SET_META_CONTEXT, &select), [option_reply::INVALID]);
    assert_eq!(client.kinds(option::STRUCTURED_REPLY, &[]), [option_reply::ACK]);
    let (replies, _) = client.send(option::SET_META_CONTEXT, &select);
    let context = [&1_u32.to_be_bytes(), &b"base:allocation"[..]].concat();
    assert_eq!(replies, [(option_reply::META_CONTEXT, context), (option_reply::ACK, Vec::new())]);
    let listed = [option_reply::META_CONTEXT, option_reply::ACK];
    for (of, kinds) in [
        (&[][..], &listed[..]),
        (&["base:"], &listed),
        (&["x:"], &listed[1..]),
        (&["base:allocation"], &listed),
    ] {
        assert_eq!(client.kinds(option::LIST_META_CONTEXT, &queries("", of)), kinds, "{of:?}");
    }
    // Selected for "drive", not for the empty name.
    let mut other = Client { handshake: client.handshake.clone(), export: export() };
    let structured = Replies { structured: true, contexts: false };
    assert_eq!(other.send(option::GO, &about("", &[])).1, Reached::Transmission(structured));
    let both = Replies { contexts: true, ..structured };
    assert_eq!(client.send(option::GO, &about("drive", &[])).1, Reached::Transmission(both));
}

#[test]
fn tls_comes_first_where_it_is_required_and_forgets_what_was_negotiated() {
    let mut client = Client::new(Tls::Required, 3);
    for code in [option::LIST, option::GO, option::STRUCTURED_REPLY, 77] {
        assert_eq!(client.kinds(code, &[]), [option_reply::TLS_REQUIRED]);
    }
    assert_eq!(client.kinds(option::STARTTLS, &[1]), [option_reply::INVALID]);
    let (replies, reached) = client.send(option::STARTTLS, &[]);
    assert_eq!((replies, reached), (vec![(option_reply::ACK, Vec::new())], Reached::StartTls));
    client.handshake.is_encrypted();
    assert_eq!(client.kinds(option::STARTTLS, &[]), [option_reply::INVALID]);
    assert_eq!(client.send(option::GO, &about("", &[])).1, Reached::Transmission(Replies::default()));
    assert_eq!(Client::new(Tls::Off, 3).kinds(option::STARTTLS, &[]), [option_reply::UNSUPPORTED]);
    let bytes = option_bytes(option::EXPORT_NAME, b"drive");
    let failed = Client::new(Tls::Required, 3).handshake.receive(&export(), &bytes, &mut Vec::new());
    assert_eq!(failed, Err(Fault::NoTls));
}

#[test]
fn malformed_options_are_refused_and_the_handshake_goes_on() {
    let mut client = Client::new(Tls::Off, 3);
    let mut long_name = text("drive");
    long_name[3] = 200;
    let mut too_many = about("drive", &[]);
    too_many[10] = 9;
    let mut longer = about("drive", &[]);
    longer.push(0);
    for data in [&[][..], &[1], &long_name, &too_many, &longer] {
        assert_eq!(client.kinds(option::GO, data), [option_reply::INVALID], "{data:?}");
    }
    for data in [&[][..], &queries("", &["a"])[..8], &[0, 0, 0, 0, 255, 255, 255, 255]] {
        assert_eq!(client.kinds(option::LIST_META_CONTEXT, data), [option_reply::INVALID], "{data:?}");
    }
    for code in [4, 11, 12, 1 << 31] {
        assert_eq!(client.kinds(code, b"whatever"), [option_reply::UNSUPPORTED]);
    }
    assert_eq!(client.kinds(option::LIST, b"data"), [option_reply::INVALID]);
    // Too long: its data are passed over as they come.
    let (bytes, mut out) = (option_bytes(option::GO, &vec![7; 20_000]), Vec::new());
    let (taken, reached) = client.handshake.receive(&export(), &bytes[..16], &mut out).unwrap();
    assert_eq!((taken, reached), (16, Reached::More));
    assert_eq!(out[12..16], option_reply::TOO_BIG.to_be_bytes());
    for part in [&bytes[16..30], &bytes[30..]] {
        let passed = client.handshake.receive(&export(), part, &mut out);
        assert_eq!(passed, Ok((part.len(), Reached::More)));
    }
    assert_eq!(client.kinds(option::LIST, &[]), [option_reply::SERVER, option_reply::ACK]);
}

#[test]
fn what_is_no_handshake_closes_the_connection() {
    let begun = || Handshake::begin(Tls::Off, &mut Vec::new());
    let failed = begun().receive(&export(), b"GET / HT", &mut Vec::new());
    assert_eq!(failed, Err(Fault::ClientFlags(u32::from_be_bytes(*b"GET "))));
    let mut client = Client::new(Tls::Off, 3);
    let failed = client.handshake.receive(&export(), b"IHAVEOPX", &mut Vec::new());
    assert_eq!(failed, Err(Fault::OptionMagic(OPTION + 4)));
    let mut old = Client::new(Tls::Off, 0);
    let failed = old.handshake.receive(&export(), &option_bytes(option::LIST, &[]), &mut Vec::new());
    assert_eq!(failed, Err(Fault::NotFixed(option::LIST)));
    let mut endless = Client::new(Tls::Off, 3);
    let list = option_bytes(option::LIST, &[]);
    let failed = (0..2000).find_map(|_| endless.handshake.receive(&export(), &list, &mut Vec::new()).err());
    assert_eq!(failed, Some(Fault::Options(1000)));
}
