//! Reader of a connection in its transmission phase: requests, whose data are stored and whose commands go to the drive.

use super::connection::{Connection, MOST_REQUESTS};
use super::input::{BUFFER, End, Input, is_timeout};
use super::negotiation::Begun;
use super::shared::Shared;
use super::stream::Stream;
use super::writer::number_of;
use crate::command::{Command, Kind};
use crate::protocol::requests::{self, HEAD};
use crate::protocol::{Ask, ErrorNumber, Export, Fault, Next, Replies, Request};
use crate::revertible::Payload;
use std::io;
use std::time::{Duration, Instant};

/// The fault of a client whose request does not end.
fn slow(patience: Duration) -> End {
    End::Fault(format!("a request that takes more than {} s to arrive", patience.as_secs_f64()))
}

/// Reader of a connection in its transmission phase.
pub struct Reader<'a> {
    shared: &'a Shared,
    export: &'a Export,
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
        begun: Begun<'a>,
    ) -> End {
        let Begun { replies, mut input, export } = begun;
        let (commands, ready) = (Vec::new(), Vec::new());
        let mut reader = Reader { shared, export, connection, number, replies, commands, ready };
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
                .then(|| shared.patience.saturating_sub(since.get_or_insert_with(Instant::now).elapsed()));
            if left == Some(Duration::ZERO) {
                return slow(shared.patience);
            }
            match stream.set_read_timeout(left).and_then(|()| input.fill(stream, whole)) {
                Ok(0) => return End::Ended,
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return slow(shared.patience),
                Err(error) => return End::of(&error),
            }
        }
    }

    /// Takes complete requests, as many as fit in one submission.
    fn take_requests(&mut self, input: &mut Input) -> Result<Option<End>, Fault> {
        while self.commands.len() < MOST_REQUESTS / 2 && self.ready.len() < BUFFER {
            let waiting = input.waiting();
            let (taken, next) = requests::receive(self.export, self.replies, waiting, &mut self.ready)?;
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
                inner.held_bytes -= self.connection.held_by(&request);
                if let Some(payloads) = &self.shared.payloads {
                    payloads.take(command);
                }
                let (cookie, error) = (request.cookie, ErrorNumber::Shutdown);
                self.replies.error(&mut inner.ready, cookie, error, "the server ends");
            }
        }
        drop(inner);
        self.connection.wake_writer();
    }

    /// Stores the data of a request, now or when the drive takes them, and adds its command; a request that fails or needs no
    /// command is answered.
    fn begin(&mut self, request: &Request, payload: &[u8]) {
        let (offset, length, store) = (request.offset, request.length, &self.shared.store);
        let kind = match request.ask {
            Ask::Read => Kind::Read,
            Ask::Flush => Kind::Flush,
            Ask::Write { fua } => Kind::Write { fua },
            // The drive has no FUA for trims; the writer flushes the store before it replies.
            Ask::Trim { .. } => Kind::Trim,
            Ask::WriteZeroes { fua, .. } => Kind::WriteZeroes { fua },
            Ask::BlockStatus { one } => {
                return match store.extents(offset, length, one) {
                    Ok(extents) => self.replies.extents(&mut self.ready, request.cookie, &extents),
                    Err(error) => self.refuse(request, &error),
                };
            }
        };
        if self.shared.payloads.is_none()
            && let Err(error) = self.store(request, payload)
        {
            return self.refuse(request, &error);
        }
        let mut inner = self.connection.lock();
        let slot = inner.pending.insert(*request);
        inner.held_bytes += self.connection.held_by(request);
        drop(inner);
        let command = Command { connection: self.number, cookie: slot as u64, kind, offset, length };
        if let Some(payloads) = &self.shared.payloads {
            match request.ask {
                Ask::Write { .. } => payloads.put(&command, Payload::Data(payload.into())),
                Ask::WriteZeroes { no_hole, .. } => payloads.put(&command, Payload::Zeroes { no_hole }),
                _ => {}
            }
        }
        self.commands.push(command);
    }

    /// Stores what a request writes.
    fn store(&self, request: &Request, payload: &[u8]) -> io::Result<()> {
        let (offset, length, store) = (request.offset, u64::from(request.length), &self.shared.store);
        match request.ask {
            Ask::Write { .. } => store.write(offset, payload),
            Ask::Trim { .. } => store.deallocate(offset, length),
            Ask::WriteZeroes { no_hole, .. } => store.write_zeroes(offset, length, no_hole),
            Ask::Read | Ask::Flush | Ask::BlockStatus { .. } => Ok(()),
        }
    }

    fn refuse(&mut self, request: &Request, error: &io::Error) {
        let why = format!("the backing file: {error}");
        self.replies.error(&mut self.ready, request.cookie, number_of(error), &why);
    }
}
