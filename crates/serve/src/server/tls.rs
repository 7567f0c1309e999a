//! TLS session of one connection, used by its reader and its writer at once.
//!
//! The session is locked while bytes are encrypted or decrypted, never while the socket waits: a writer whose client takes no
//! replies does not hold up the reader.

use super::socket::Socket;
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that one read of the socket takes.
const RECEIVED: usize = 64 << 10;
/// Most bytes that are encrypted before they are sent.
const SENT: usize = 256 << 10;
/// Longest time for the last record of a session.
const FAREWELL: Duration = Duration::from_secs(1);

/// A session.
pub struct Session {
    state: Mutex<ServerConnection>,
    /// Records that are sent in the order of their encryption. Locked before `state`.
    sending: Mutex<Vec<u8>>,
    /// Of the reader alone. Locked before `state`.
    receiving: Mutex<Receiving>,
}

/// Records received.
struct Receiving {
    bytes: Box<[u8]>,
    /// Those that are not decrypted.
    taken: usize,
    filled: usize,
    /// When a read ends without data.
    until: Option<Instant>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {error}"))
}

impl Session {
    /// Negotiates a session with a client, which takes `longest` at most.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] says what is wrong with the client or its certificate; others are those of the socket.
    pub fn negotiate(socket: &Socket, config: &Arc<ServerConfig>, longest: Duration) -> io::Result<Session> {
        let mut state = ServerConnection::new(Arc::clone(config)).map_err(invalid)?;
        // What is encrypted is limited by `SENT`.
        state.set_buffer_limit(None);
        let bytes = vec![0; RECEIVED].into_boxed_slice();
        let receiving = Receiving { bytes, taken: 0, filled: 0, until: Some(Instant::now() + longest) };
        let session =
            Session { state: Mutex::new(state), sending: Mutex::default(), receiving: Mutex::new(receiving) };
        loop {
            session.send_records(socket)?;
            if !lock(&session.state).is_handshaking() {
                return Ok(session);
            }
            let mut receiving = lock(&session.receiving);
            if receiving.taken == receiving.filled && receiving.receive(socket)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            session.decrypt(socket, &mut receiving, &mut [])?;
        }
    }

    /// Longest time that one read may take from now on; `None` for ever.
    pub fn set_read_timeout(&self, most: Option<Duration>) {
        lock(&self.receiving).until = most.map(|most| Instant::now() + most);
    }

    /// Reads data; 0 at the end.
    ///
    /// # Errors
    /// As those of [`Session::negotiate`].
    pub fn read(&self, socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
        let mut receiving = lock(&self.receiving);
        loop {
            if let Some(count) = self.decrypt(socket, &mut receiving, buffer)? {
                return Ok(count);
            }
            if receiving.receive(socket)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Decrypts what was received, as far as `buffer` has room; `None` if that is no data.
    fn decrypt(
        &self,
        socket: &Socket,
        receiving: &mut Receiving,
        buffer: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let (mut state, mut count) = (lock(&self.state), 0);
        let ended = loop {
            if count < buffer.len() {
                match state.reader().read(&mut buffer[count..]) {
                    Ok(0) => break Ok(true),
                    Ok(more) => {
                        count += more;
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => break Err(error),
                }
            }
            let mut left = &receiving.bytes[receiving.taken..receiving.filled];
            if left.is_empty() || count > 0 && count == buffer.len() {
                break Ok(false);
            }
            let taken = state.read_tls(&mut left)?;
            receiving.taken += taken;
            if let Err(error) = state.process_new_packets() {
                break Err(invalid(error));
            }
        };
        let answers = state.wants_write();
        drop(state);
        if answers {
            // Answers of the protocol, such as an alert that says what is wrong.
            let sent = self.send_records(socket);
            ended.as_ref().map_or(Ok(()), |_| sent)?;
        }
        Ok((ended? || count > 0).then_some(count))
    }

    /// Writes data.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn write(&self, socket: &Socket, data: &[u8]) -> io::Result<usize> {
        let mut sending = lock(&self.sending);
        let count = lock(&self.state).writer().write(&data[..data.len().min(SENT)])?;
        self.send(socket, &mut sending)?;
        Ok(count)
    }

    /// Ends the session, if its client takes what that needs.
    pub fn close(&self, socket: &Socket) {
        lock(&self.state).send_close_notify();
        // A client that has gone needs no end.
        let _ = socket.set_write_timeout(Some(FAREWELL)).and_then(|()| self.send_records(socket));
    }

    fn send_records(&self, socket: &Socket) -> io::Result<()> {
        self.send(socket, &mut lock(&self.sending))
    }

    fn send(&self, mut socket: &Socket, records: &mut Vec<u8>) -> io::Result<()> {
        {
            let mut state = lock(&self.state);
            while state.wants_write() {
                state.write_tls(records)?;
            }
        }
        let sent = socket.write_all(records);
        records.clear();
        sent
    }
}

impl Receiving {
    /// Receives bytes, with nothing left of those before; 0 at the end.
    fn receive(&mut self, mut socket: &Socket) -> io::Result<usize> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(left)?;
        self.taken = 0;
        self.filled = 0;
        self.filled = socket.read(&mut self.bytes)?;
        Ok(self.filled)
    }
}
