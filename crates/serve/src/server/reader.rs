//! Reader of a connection: handshake, then requests, whose data are stored and whose commands go to the drive.

use super::connection::{Connection, MOST_REQUESTS};
use super::shared::Shared;
use super::stream::Stream;
use super::writer::number_of;
use crate::command::{Command, Kind};
use crate::protocol::requests::{self, HEAD};
use crate::protocol::{Ask, ErrorNumber, Fault, Handshake, Next, Reached, Replies, Request, Tls};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Bytes that one read of the socket may take; longer requests grow the buffer from the shared budget.
const BUFFER: usize = 256 << 10;
/// Longest handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// Longest time from the first bytes of a request to its last.
const MESSAGE: Duration = Duration::from_secs(30);
/// Fault of a client that exceeds it.
const SLOW: &str = "a request that takes more than 30 s to arrive";

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The client ended it.
    Ended,
    /// The client does not speak the protocol, for this reason.
    Fault(String),
}

/// What the handshake leaves to the transmission.
pub struct Begun {
    /// Form of the replies.
    pub replies: Replies,
    input: Input,
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

    /// Makes room for a message of `whole` bytes at the front, and gives memory beyond it back.
    fn make_room(&mut self, whole: usize) {
        self.bytes.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        let room = BUFFER.max(whole);
        if self.bytes.len() != room && self.filled <= room {
            self.bytes.resize(room, 0);
            self.bytes.shrink_to(room);
        }
    }

    /// Reads what the socket has; room for a message of `whole` bytes is made. Returns the number of bytes; 0 at the end.
    fn fill(&mut self, mut stream: &Stream, whole: usize) -> io::Result<usize> {
        self.make_room(whole);
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
pub fn handshake(shared: &Shared, stream: &Stream) -> Result<Option<Begun>, End> {
    let mut input = Input { bytes: vec![0; BUFFER], filled: 0, taken: 0 };
    let mut out = Vec::new();
    let mut handshake = Handshake::begin(Tls::Off, &mut out);
    let began = Instant::now();
    loop {
        let received = handshake.receive(&shared.export, input.waiting(), &mut out);
        let (taken, reached) = received.map_err(|fault| End::Fault(fault.to_string()))?;
        input.taken += taken;
        let sent = { stream }.write_all(&out);
        out.clear();
        match reached {
            _ if sent.is_err() => return Ok(None),
            Reached::Ended => return Ok(None),
            Reached::Transmission(replies) => return Ok(Some(Begun { replies, input })),
            Reached::StartTls => unreachable!("TLS is off"),
            Reached::More if taken > 0 => continue,
            Reached::More => {}
        }
        let left = HANDSHAKE.checked_sub(began.elapsed()).filter(|left| !left.is_zero());
        let Some(left) = left else { return Err(End::Fault("a handshake of more than 30 s".into())) };
        match stream.set_read_timeout(Some(left)).and_then(|()| input.fill(stream, 0)) {
            Ok(0) => return Ok(None),
            Err(error) if !is_timeout(&error) => return Ok(None),
            _ => {}
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Reader of a connection in its transmission phase.
pub struct Reader<'a> {
    shared: &'a Shared,
    connection: &'a Connection,
    number: u64,
    replies: Replies,
    /// Commands that are about to be submitted.
    commands: Vec<Command>,
    /// Replies to requests that need no command.
    ready: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// Reads requests until the connection ends.
    pub fn run(
        shared: &'a Shared,
        connection: &'a Connection,
        stream: &Stream,
        number: u64,
        begun: Begun,
    ) -> End {
        let Begun { replies, mut input } = begun;
        let (commands, ready) = (Vec::new(), Vec::new());
        let mut reader = Reader { shared, connection, number, replies, commands, ready };
        // What a long write has taken of the shared budget.
        let mut share = None;
        // When the request at the front began.
        let mut since = None;
        loop {
            let taken_before = input.taken;
            let received = reader.take_requests(&mut input);
            if input.taken > taken_before {
                since = None;
            }
            let is_over = !reader.submit();
            match received {
                Err(fault) => return End::Fault(fault.to_string()),
                Ok(Some(end)) => return end,
                Ok(None) => {}
            }
            let whole = requests::expected(input.waiting());
            let is_long = whole.is_some_and(|whole| whole > BUFFER);
            if !is_long && share.take().is_some() {
                // A client that is held back keeps no memory that others wait for.
                input.make_room(0);
            }
            if is_over || !connection.wait_for_room() {
                return End::Ended;
            }
            if whole.is_some_and(|whole| input.waiting().len() >= whole) {
                continue;
            }
            let whole = whole.unwrap_or(0);
            if is_long && share.is_none() {
                share = Some(shared.budget.take(whole as u64));
                since = None;
            }
            // A client may be silent between requests, not within one.
            let left = (!input.waiting().is_empty())
                .then(|| MESSAGE.saturating_sub(since.get_or_insert_with(Instant::now).elapsed()));
            if left == Some(Duration::ZERO) {
                return End::Fault(SLOW.into());
            }
            match stream.set_read_timeout(left).and_then(|()| input.fill(stream, whole)) {
                Ok(0) => return End::Ended,
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return End::Fault(SLOW.into()),
                Err(_) => return End::Ended,
            }
        }
    }

    /// Takes complete requests, as many as fit in one submission.
    fn take_requests(&mut self, input: &mut Input) -> Result<Option<End>, Fault> {
        while self.commands.len() < MOST_REQUESTS / 2 && self.ready.len() < BUFFER {
            let waiting = input.waiting();
            let (taken, next) =
                requests::receive(&self.shared.export, self.replies, waiting, &mut self.ready)?;
            match next {
                Next::More => break,
                Next::Disconnect => return Ok(Some(End::Ended)),
                Next::Refused => {}
                Next::Request(request) => self.begin(&request, &waiting[HEAD..taken]),
            }
            input.taken += taken;
        }
        Ok(None)
    }

    /// Sends what is ready and submits the commands; false if the drive takes no more.
    fn submit(&mut self) -> bool {
        if !self.ready.is_empty() {
            self.connection.lock().ready.append(&mut self.ready);
            self.connection.wake_writer();
        }
        let is_taken = self.shared.drive.submit(&self.commands).is_ok();
        if !is_taken {
            self.withdraw();
        }
        self.commands.clear();
        is_taken
    }

    /// The drive takes no more commands: these fail.
    fn withdraw(&self) {
        let mut inner = self.connection.lock();
        for command in &self.commands {
            // Those that the drive took before it ended have completed.
            if let Some(request) = inner.pending.try_remove(command.cookie as usize) {
                if request.ask == Ask::Read {
                    inner.read_bytes -= u64::from(request.length);
                }
                let (cookie, error) = (request.cookie, ErrorNumber::Shutdown);
                self.replies.error(&mut inner.ready, cookie, error, "the server ends");
            }
        }
        drop(inner);
        self.connection.wake_writer();
    }

    /// Stores the data of a request and adds its command; one that fails or needs no command is answered.
    fn begin(&mut self, request: &Request, payload: &[u8]) {
        let (offset, length, store) = (request.offset, request.length, &self.shared.store);
        let (kind, stored) = match request.ask {
            Ask::Read => (Kind::Read, Ok(())),
            Ask::Flush => (Kind::Flush, Ok(())),
            Ask::Write { fua } => (Kind::Write { fua }, store.write(offset, payload)),
            // The drive has no FUA for trims; the writer flushes the store before it replies.
            Ask::Trim { .. } => (Kind::Trim, store.deallocate(offset, length.into())),
            Ask::WriteZeroes { fua, no_hole } => {
                (Kind::WriteZeroes { fua }, store.write_zeroes(offset, length.into(), no_hole))
            }
            Ask::BlockStatus { one } => {
                return match store.extents(offset, length, one) {
                    Ok(extents) => self.replies.extents(&mut self.ready, request.cookie, &extents),
                    Err(error) => self.refuse(request, &error),
                };
            }
        };
        if let Err(error) = stored {
            return self.refuse(request, &error);
        }
        let mut inner = self.connection.lock();
        let slot = inner.pending.insert(*request);
        if request.ask == Ask::Read {
            inner.read_bytes += u64::from(length);
        }
        drop(inner);
        let (connection, cookie) = (self.number, slot as u64);
        self.commands.push(Command { connection, cookie, kind, offset, length });
    }

    fn refuse(&mut self, request: &Request, error: &io::Error) {
        let why = format!("the backing file: {error}");
        self.replies.error(&mut self.ready, request.cookie, number_of(error), &why);
    }
}
