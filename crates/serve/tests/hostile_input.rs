//! Does the protocol survive any bytes: without a panic, with bounded answers, and the same however they are divided?

use crate::handshake::{export, option_bytes};
use crate::requests::request_bytes;
use interpulse_engine::Streams;
use interpulse_serve::protocol::requests::{self, HEAD};
use interpulse_serve::protocol::{Handshake, Next, Reached, Replies, Tls};

/// Most bytes that one option may be answered with.
const LONGEST_ANSWER: usize = 512;

/// Messages that mutations begin with.
fn messages() -> Vec<Vec<u8>> {
    let named = b"\0\0\0\x05drive".to_vec();
    let of = |tail: &[u8]| [&named[..], tail].concat();
    let mut messages = vec![3_u32.to_be_bytes().to_vec()];
    for code in 0..13 {
        for data in [
            vec![],
            b"drive".to_vec(),
            of(&[0, 0]),
            of(&[0, 2, 0, 1, 0, 3]),
            of(b"\0\0\0\x01\0\0\0\x05base:"),
        ] {
            messages.push(option_bytes(code, &data));
        }
    }
    for kind in 0..9 {
        for flags in [0, 1, 31] {
            let mut bytes = request_bytes(flags, kind, 4096, 512);
            if kind == 1 {
                bytes.resize(HEAD + 512, 3);
            }
            messages.push(bytes);
        }
    }
    messages
}

/// Runs a client's bytes through the protocol in pieces of at most `piece` bytes; all answers.
fn answers(input: &[u8], piece: usize, tls: Tls) -> Vec<u8> {
    let (export, mut out) = (export(), Vec::new());
    let mut handshake = Handshake::begin(tls, &mut out);
    let mut replies: Option<Replies> = None;
    let (mut buffer, mut ended) = (Vec::new(), false);
    for part in input.chunks(piece) {
        buffer.extend_from_slice(part);
        let mut taken_in_all = 0;
        while !ended {
            let (rest, before) = (&buffer[taken_in_all..], out.len());
            let taken = match replies {
                None => match handshake.receive(&export, rest, &mut out) {
                    Err(_) => {
                        ended = true;
                        0
                    }
                    Ok((taken, reached)) => {
                        match reached {
                            Reached::StartTls => handshake.is_encrypted(),
                            Reached::Transmission(found) => replies = Some(found),
                            Reached::Ended => ended = true,
                            Reached::More => {}
                        }
                        taken
                    }
                },
                Some(of) => match requests::receive(&export, of, rest, &mut out) {
                    Err(_) | Ok((_, Next::Disconnect)) => {
                        ended = true;
                        0
                    }
                    Ok((taken, next)) => {
                        if let Next::Request(found) = next {
                            assert!(found.offset + u64::from(found.length) <= export.bytes);
                            of.done(&mut out, found.cookie);
                        }
                        taken
                    }
                },
            };
            assert!(out.len() - before <= LONGEST_ANSWER);
            taken_in_all += taken;
            if taken == 0 {
                break;
            }
        }
        buffer.drain(..taken_in_all);
        assert!(buffer.len() <= HEAD + (32 << 20) + piece, "what waits is at most one message");
    }
    out
}

/// `count` inputs of mutated messages.
fn mutations(seed: u64, count: u64) {
    let (mut rng, messages) = (Streams::new(seed).stream("test.hostile-input", 0), messages());
    for _ in 0..count {
        let mut input = if rng.below(8) > 0 { messages[0].clone() } else { Vec::new() };
        for _ in 0..1 + rng.below(6) {
            input.extend_from_slice(&messages[rng.below(messages.len() as u64) as usize]);
        }
        for _ in 0..rng.below(4) {
            let at = rng.below(input.len() as u64) as usize;
            match rng.below(5) {
                0 => input[at] = rng.below(256) as u8,
                1 => input[at] ^= 1 << rng.below(8),
                2 => input.truncate(at.max(1)),
                3 => input[at] = [0, 255, 128, 127][rng.below(4) as usize],
                _ => {
                    let tail = input.split_off(at);
                    input.extend_from_slice(&tail[..tail.len().min(rng.below(40) as usize)]);
                    input.extend_from_slice(&tail);
                }
            }
        }
        let tls = if rng.below(4) == 0 { Tls::Required } else { Tls::Off };
        let whole = answers(&input, usize::MAX >> 1, tls);
        let piece = 1 + rng.below(40) as usize;
        assert_eq!(whole, answers(&input, piece, tls), "pieces of {piece}: {input:?}");
    }
}

#[test]
fn mutated_input_is_survived() {
    mutations(1, 20_000);
}

#[test]
#[ignore = "long: make verify"]
fn ten_million_mutated_inputs_are_survived() {
    mutations(2, 10_000_000);
}
