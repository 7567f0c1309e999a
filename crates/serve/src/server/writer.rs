//! Writer of a connection: replies to completed requests, with the data of reads.

use super::connection::Connection;
use super::shared::Shared;
use super::stream::Stream;
use crate::command::Outcome;
use crate::protocol::{Ask, ErrorNumber, Replies, Request};
use std::io::{self, Write};

/// Bytes of replies after which they are sent, before further ones are made.
const SEND_ABOVE: usize = 1 << 20;

/// Sends replies until the connection ends.
pub fn run(shared: &Shared, connection: &Connection, stream: &Stream, replies: Replies) {
    let (mut done, mut ready, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_broken = false;
    while connection.take_work(&mut done, &mut ready).is_some() {
        out.append(&mut ready);
        // One flush covers all that completed before it.
        let durable = done.iter().any(|(request, _)| is_durable(request.ask)).then(|| shared.store.flush());
        let mut held_bytes = 0;
        for (request, outcome) in done.drain(..) {
            held_bytes += connection.held_by(&request);
            if is_broken {
                continue;
            }
            let replied = match answer(request.ask, outcome, durable.as_ref()) {
                Err((error, why)) => {
                    replies.error(&mut out, request.cookie, error, &why);
                    Ok(())
                }
                Ok(()) if request.ask == Ask::Read => send_read(shared, stream, replies, &request, &mut out),
                Ok(()) => {
                    replies.done(&mut out, request.cookie);
                    Ok(())
                }
            };
            let sent = replied.and_then(|()| send_above(SEND_ABOVE, stream, &mut out));
            is_broken = sent.is_err();
        }
        is_broken = is_broken || send_above(0, stream, &mut out).is_err();
        if is_broken {
            // The requests under way still complete, and nobody gets their replies.
            out.clear();
            connection.breaks();
            stream.shut_down();
        }
        connection.has_sent(held_bytes);
    }
}

/// Sends `out` if it is longer than `most`.
fn send_above(most: usize, mut stream: &Stream, out: &mut Vec<u8>) -> io::Result<()> {
    if out.len() > most {
        stream.write_all(out)?;
        out.clear();
        out.shrink_to(2 * SEND_ABOVE);
    }
    Ok(())
}

/// Replies to a read, in pieces of memory that do not grow with it.
///
/// # Errors
/// Those of the socket, and those of the store after a part of the reply was sent: the connection cannot go on.
fn send_read(
    shared: &Shared,
    stream: &Stream,
    replies: Replies,
    request: &Request,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let &Request { cookie, offset, length, .. } = request;
    let before = out.len();
    replies.read_head(out, cookie, offset, length);
    for from in (0..length).step_by(SEND_ABOVE) {
        let piece = (length - from).min(SEND_ABOVE as u32);
        match shared.store.read_to(offset + u64::from(from), piece, out) {
            Err(error) if from == 0 => {
                out.truncate(before);
                let why = format!("the backing file cannot be read: {error}");
                replies.error(out, cookie, number_of(&error), &why);
                return Ok(());
            }
            other => other?,
        }
        if from + piece < length {
            send_above(0, stream, out)?;
        }
    }
    Ok(())
}

/// Whether the reply says that data are durable.
fn is_durable(ask: Ask) -> bool {
    matches!(
        ask,
        Ask::Flush | Ask::Write { fua: true } | Ask::Trim { fua: true } | Ask::WriteZeroes { fua: true, .. }
    )
}

/// How a request ended, for the drive and for the flush that makes it durable.
fn answer(ask: Ask, outcome: Outcome, durable: Option<&io::Result<()>>) -> Result<(), (ErrorNumber, String)> {
    let failed = |error, why: &str| Err((error, why.into()));
    match outcome {
        Outcome::Success => {}
        Outcome::IoError => return failed(ErrorNumber::InputOutput, "the drive failed the request"),
        Outcome::InvalidArgument => return failed(ErrorNumber::Invalid, "the drive refuses the request"),
        Outcome::NoSpace => return failed(ErrorNumber::NoSpace, "the backing file: no space left"),
        Outcome::NotPermitted => return failed(ErrorNumber::NotPermitted, "the drive is read-only"),
    }
    match durable {
        Some(Err(error)) if is_durable(ask) => {
            Err((number_of(error), format!("the backing file cannot be flushed: {error}")))
        }
        _ => Ok(()),
    }
}

/// The error of the protocol for one of the backing file.
pub fn number_of(error: &io::Error) -> ErrorNumber {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ErrorNumber::NoSpace
        }
        _ => ErrorNumber::InputOutput,
    }
}
