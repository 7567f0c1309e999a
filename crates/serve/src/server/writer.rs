//! Writer of a connection: replies to completed requests, with the data of reads.

use super::Shared;
use super::connection::Connection;
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
        let durable = done.iter().any(|(request, _)| is_durable(request)).then(|| shared.store.flush());
        let mut read_bytes = 0;
        for (request, outcome) in done.drain(..) {
            if request.ask == Ask::Read {
                read_bytes += u64::from(request.length);
            }
            if is_broken {
                continue;
            }
            reply(shared, replies, &request, outcome, durable.as_ref(), &mut out);
            if out.len() >= SEND_ABOVE {
                is_broken = send(stream, &mut out).is_err();
            }
        }
        is_broken = is_broken || send(stream, &mut out).is_err();
        if is_broken {
            // The requests under way still complete, and nobody gets their replies.
            out.clear();
            connection.breaks();
            stream.shut_down();
        }
        connection.has_sent(read_bytes);
    }
}

fn send(mut stream: &Stream, out: &mut Vec<u8>) -> io::Result<()> {
    stream.write_all(out)?;
    out.clear();
    out.shrink_to(2 * SEND_ABOVE);
    Ok(())
}

/// Whether the reply says that data are durable.
fn is_durable(request: &Request) -> bool {
    matches!(
        request.ask,
        Ask::Flush | Ask::Write { fua: true } | Ask::Trim { fua: true } | Ask::WriteZeroes { fua: true, .. }
    )
}

fn reply(
    shared: &Shared,
    replies: Replies,
    request: &Request,
    outcome: Outcome,
    durable: Option<&io::Result<()>>,
    out: &mut Vec<u8>,
) {
    let (cookie, offset, length) = (request.cookie, request.offset, request.length);
    let mut failed = |error: ErrorNumber, why: &str| replies.error(out, cookie, error, why);
    match outcome {
        Outcome::Success => {}
        Outcome::IoError => return failed(ErrorNumber::InputOutput, "the drive failed the request"),
        Outcome::InvalidArgument => return failed(ErrorNumber::Invalid, "the drive refuses the request"),
        Outcome::NotPermitted => return failed(ErrorNumber::NotPermitted, "the drive is read-only"),
    }
    if let Some(Err(error)) = durable.filter(|_| is_durable(request)) {
        return failed(number_of(error), &format!("the backing file cannot be flushed: {error}"));
    }
    if request.ask != Ask::Read {
        return replies.done(out, cookie);
    }
    let before = out.len();
    replies.read_head(out, cookie, offset, length);
    if let Err(error) = shared.store.read_to(offset, length, out) {
        out.truncate(before);
        replies.error(out, cookie, number_of(&error), &format!("the backing file cannot be read: {error}"));
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
