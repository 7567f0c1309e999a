//! Reader of a connection: handshake, then requests, whose data are stored and whose commands go to the drive.

use super::Shared;
use super::connection::Connection;
use super::stream::Stream;
use super::writer::number_of;
use crate::command::{Command, Kind};
use crate::protocol::requests::{self, HEAD};
use crate::protocol::{Ask, ErrorNumber, Handshake, Next, Reached, Replies, Request, Tls};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Bytes that one read of the socket may take; longer requests grow the buffer from the shared budget.
const BUFFER: usize = 256 << 10;
/// Longest handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// Longest wait for the rest of a message that has begun.
const MESSAGE: Duration = Duration::from_secs(30);

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The client ended it.
    Ended,
    /// The client does not speak the protocol, for this reason.
    Fault(String),
}

/// Bytes received and not yet taken.
struct Input {
    bytes: Vec<u8>,
    filled: usize,
    taken: usize,
}

impl Input {
    fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    /// Reads what the socket has; room for a message of `whole` bytes is made. Returns the number of bytes; 0 at the end.
    fn fill(&mut self, mut stream: &Stream, whole: usize) -> io::Result<usize> {
        self.bytes.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        let room = BUFFER.max(whole);
        if self.bytes.len() != room && self.filled <= room {
            self.bytes.resize(room, 0);
            self.bytes.shrink_to(room);
        }
        let count = loop {
            match stream.read(&mut self.bytes[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.filled += count;
        Ok(count)
    }
}

/// Runs the handshake; `None` if the connection has ended.
pub fn handshake(
    shared: &Shared,
    stream: &Stream,
) -> Result<Option<(Replies, impl FnOnce(&Connection, u64) -> End)>, End> {
    let mut input = Input { bytes: vec![0; BUFFER], filled: 0, taken: 0 };
    let mut out = Vec::new();
    let mut handshake = Handshake::begin(Tls::Off, &mut out);
    let began = Instant::now();
    loop {
        let received = handshake.receive(&shared.export, input.waiting(), &mut out);
        let (taken, reached) = received.map_err(|fault| End::Fault(fault.to_string()))?;
        input.taken += taken;
        match reached {
            Reached::More if taken > 0 && out.len() < BUFFER => continue,
            Reached::StartTls => unreachable!("TLS is off"),
            _ => {}
        }
        let sent = { stream }.write_all(&out);
        out.clear();
        match reached {
            _ if sent.is_err() => return Ok(None),
            Reached::Ended => return Ok(None),
            Reached::Transmission(replies) => {
                let rest = move |connection: &Connection, number| {
                    transmission(shared, connection, stream, number, replies, input)
                };
                return Ok(Some((replies, rest)));
            }
            _ if taken > 0 => continue,
            _ => {}
        }
        let left = HANDSHAKE.checked_sub(began.elapsed()).filter(|left| !left.is_zero());
        let Some(left) = left else { return Err(End::Fault("a handshake of more than 30 s".into())) };
        let filled = stream.set_read_timeout(Some(left)).and_then(|()| input.fill(stream, 0));
        match filled {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(_) => return Ok(None),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn transmission(
    shared: &Shared,
    connection: &Connection,
    stream: &Stream,
    number: u64,
    replies: Replies,
    mut input: Input,
) -> End {
    let (mut commands, mut refusals) = (Vec::new(), Vec::new());
    // What a long write has taken of the shared budget.
    let mut share = None;
    loop {
        let received = loop {
            match requests::receive(&shared.export, replies, input.waiting(), &mut refusals) {
                Ok((0, Next::More)) => break Ok(false),
                Ok((_, Next::Disconnect)) => break Ok(true),
                Ok((taken, next)) => {
                    if let Next::Request(request) = next {
                        let payload = &input.waiting()[HEAD.min(taken)..taken];
                        begin(
                            shared,
                            connection,
                            number,
                            &request,
                            payload,
                            replies,
                            &mut commands,
                            &mut refusals,
                        );
                    }
                    input.taken += taken;
                    if commands.len() >= super::connection::MOST_REQUESTS / 2 || refusals.len() >= BUFFER {
                        break Ok(false);
                    }
                }
                Err(fault) => break Err(End::Fault(fault.to_string())),
            }
        };
        if !refusals.is_empty() {
            connection.lock().ready.append(&mut refusals);
            connection.wake_writer();
        }
        let is_over = shared.drive.submit(&commands).is_err();
        if is_over {
            withdraw(connection, &commands, replies);
        }
        commands.clear();
        match received {
            Err(end) => return end,
            Ok(true) => return End::Ended,
            Ok(false) => {}
        }
        if is_over || !connection.wait_for_room() {
            return End::Ended;
        }
        let whole = requests::expected(input.waiting());
        if whole.is_some_and(|whole| input.waiting().len() >= whole) {
            continue;
        }
        let whole = whole.unwrap_or(0);
        if whole <= BUFFER {
            share = None;
        } else if share.is_none() {
            share = Some(shared.budget.take(whole as u64));
        }
        // A client may be silent between messages, not within one.
        let most = (!input.waiting().is_empty()).then_some(MESSAGE);
        match stream.set_read_timeout(most).and_then(|()| input.fill(stream, whole)) {
            Ok(0) => return End::Ended,
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {
                return End::Fault("nothing for 30 s within a request".into());
            }
            Err(_) => return End::Ended,
        }
    }
}

/// The drive takes no more commands: these fail.
fn withdraw(connection: &Connection, commands: &[Command], replies: Replies) {
    let mut inner = connection.lock();
    for command in commands {
        // Those that the drive took before it ended have completed.
        if let Some(request) = inner.pending.try_remove(command.cookie as usize) {
            if request.ask == Ask::Read {
                inner.read_bytes -= u64::from(request.length);
            }
            replies.error(&mut inner.ready, request.cookie, ErrorNumber::Shutdown, "the server ends");
        }
    }
    drop(inner);
    connection.wake_writer();
}

/// Stores the data of a request and adds its command; one that fails or needs no command is answered.
#[expect(clippy::too_many_arguments, reason = "the parts of one connection")]
fn begin(
    shared: &Shared,
    connection: &Connection,
    number: u64,
    request: &Request,
    payload: &[u8],
    replies: Replies,
    commands: &mut Vec<Command>,
    ready: &mut Vec<u8>,
) {
    let (offset, length) = (request.offset, request.length);
    let (kind, stored) = match request.ask {
        Ask::Read => (Kind::Read, Ok(())),
        Ask::Flush => (Kind::Flush, Ok(())),
        Ask::Write { fua } => (Kind::Write { fua }, shared.store.write(offset, payload)),
        // Deallocation needs no FUA: what it loses were zeroes, or the data before.
        Ask::Trim { .. } => (Kind::Trim, shared.store.deallocate(offset, length.into())),
        Ask::WriteZeroes { fua, no_hole } => {
            (Kind::WriteZeroes { fua }, shared.store.write_zeroes(offset, length.into(), no_hole))
        }
        Ask::BlockStatus { one } => {
            match shared.store.extents(offset, length, one) {
                Ok(extents) => replies.extents(ready, request.cookie, &extents),
                Err(error) => refuse(replies, request, &error, ready),
            }
            return;
        }
    };
    if let Err(error) = stored {
        return refuse(replies, request, &error, ready);
    }
    let mut inner = connection.lock();
    let slot = inner.pending.insert(*request);
    if request.ask == Ask::Read {
        inner.read_bytes += u64::from(length);
    }
    commands.push(Command { connection: number, cookie: slot as u64, kind, offset, length });
}

fn refuse(replies: Replies, request: &Request, error: &io::Error, ready: &mut Vec<u8>) {
    replies.error(ready, request.cookie, number_of(error), &format!("the backing file: {error}"));
}
