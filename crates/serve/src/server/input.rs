//! Input of a connection: bytes received and not yet taken, and how it ends.

use super::stream::Stream;
use std::io::{self, Read};

/// Bytes that one read of the socket may take; longer requests grow the buffer from the shared budget.
pub const BUFFER: usize = 256 << 10;

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The client ended it.
    Ended,
    /// The client does not speak the protocol, for this reason.
    Fault(String),
}

impl End {
    /// The end of a connection that cannot be read any more.
    pub fn of(error: &io::Error) -> End {
        if error.kind() == io::ErrorKind::InvalidData { End::Fault(error.to_string()) } else { End::Ended }
    }
}

/// Whether a read has waited for too long.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Bytes received and not yet taken.
pub struct Input {
    bytes: Vec<u8>,
    filled: usize,
    /// Bytes at the front that have been taken.
    pub taken: usize,
}

impl Input {
    /// No bytes, and room for the first.
    pub fn new() -> Input {
        Input { bytes: vec![0; BUFFER], filled: 0, taken: 0 }
    }

    /// Takes bytes from the front.
    pub fn take(&mut self, count: usize) {
        self.taken += count;
    }

    /// Those not yet taken.
    pub fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    /// Makes room for a message of `whole` bytes at the front, and gives memory beyond it back.
    pub fn make_room(&mut self, whole: usize) {
        self.bytes.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        let room = BUFFER.max(whole);
        if self.bytes.len() != room && self.filled <= room {
            self.bytes.resize(room, 0);
            self.bytes.shrink_to(room);
        }
    }

    /// Reads what the socket has; room for a message of `whole` bytes is made. Returns the number of bytes; 0 at the end.
    pub fn fill(&mut self, mut stream: &Stream, whole: usize) -> io::Result<usize> {
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
