//! Listeners, and the streams of their clients.

use super::address::Address;
use super::socket::Socket;
use super::tls::Session;
use rustix::fs::{Mode, fchmod};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustls::ServerConfig;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Stream of one client: its socket, and its TLS session once that has begun.
pub struct Stream {
    socket: Socket,
    session: OnceLock<Session>,
}

impl From<Socket> for Stream {
    fn from(socket: Socket) -> Stream {
        Stream { socket, session: OnceLock::new() }
    }
}

impl Stream {
    /// Begins TLS, which takes `longest` at most.
    ///
    /// # Errors
    /// Those of [`Session::negotiate`].
    pub fn encrypt(&self, config: &Arc<ServerConfig>, longest: Duration) -> io::Result<()> {
        let session = Session::negotiate(&self.socket, config, longest)?;
        // A handshake begins it once.
        let _ = self.session.set(session);
        Ok(())
    }

    /// Ends reads and writes of all threads.
    pub fn shut_down(&self) {
        // An error says that the client has ended it.
        let _ = self.socket.shut_down();
    }

    /// Ends the stream when neither reader nor writer use it.
    pub fn close(&self) {
        if let Some(session) = self.session.get() {
            session.close(&self.socket);
        }
        self.shut_down();
    }

    /// Longest time that one read may wait; `None` for ever.
    pub fn set_read_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        match self.session.get() {
            None => self.socket.set_read_timeout(most),
            Some(session) => {
                session.set_read_timeout(most);
                Ok(())
            }
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.session.get() {
            None => (&self.socket).read(buffer),
            Some(session) => session.read(&self.socket, buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.session.get() {
            None => (&self.socket).write(buffer),
            Some(session) => session.write(&self.socket, buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A listener.
pub enum Listener {
    /// Of the file system; the path is removed when the listener is dropped.
    Unix(UnixListener, PathBuf),
    /// Of TCP.
    Tcp(TcpListener),
}

impl Listener {
    /// Listens on `at`.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AddrInUse`] if another server listens there, or the path is no socket.
    pub fn bind(at: &Address) -> io::Result<Listener> {
        match at {
            Address::Tcp(at) => TcpListener::bind(at).map(Listener::Tcp),
            Address::Unix(path) => {
                remove_stale(path)?;
                bind_private(path).map(|listener| Listener::Unix(listener, path.clone()))
            }
        }
    }

    /// The address with the port that was taken.
    pub fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Listener::Unix(_, path) => Address::Unix(path.clone()),
            Listener::Tcp(of) => Address::Tcp(of.local_addr()?),
        })
    }

    /// Waits for a client.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Unix(of, _) => of.accept().map(|(stream, _)| Socket::Unix(stream).into()),
            Listener::Tcp(of) => {
                let (stream, _) = of.accept()?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream).into())
            }
        }
    }

    /// Connects and drops the connection, so that a waiting [`Listener::accept`] returns.
    pub fn wake(at: &Address) {
        // An error says that nobody waits.
        match at {
            Address::Unix(path) => drop(UnixStream::connect(path)),
            Address::Tcp(at) => drop(TcpStream::connect_timeout(at, Duration::from_secs(1))),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // An error says that it is gone.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Listens on a path that this user alone can open: the protocol has no passwords.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Before `bind`, which gives the path the mode of the socket: there is no moment at which others can open it.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Removes a socket that no server listens on any more.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let in_use = |why| Err(io::Error::new(io::ErrorKind::AddrInUse, why));
    if !found.file_type().is_socket() {
        return in_use("a file that is no socket has this path");
    }
    match UnixStream::connect(path) {
        Ok(_) => in_use("another server listens there"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_path_is_private_from_its_first_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let _listener = bind_private(&path).expect("it listens");
        // No chmod follows: the mode is that of `bind`, under whatever umask.
        let mode = path.metadata().expect("the socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        UnixStream::connect(&path).expect("it accepts");
    }
}
