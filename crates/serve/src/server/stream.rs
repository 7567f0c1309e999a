//! Sockets: listeners and the streams of clients, of the file system and of TCP.

use super::address::Address;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Stream of one client.
pub enum Stream {
    /// Of the file system.
    Unix(UnixStream),
    /// Of TCP.
    Tcp(TcpStream),
}

macro_rules! either {
    ($stream:expr, $of:ident => $do:expr) => {
        match $stream {
            Stream::Unix($of) => $do,
            Stream::Tcp($of) => $do,
        }
    };
}

impl Stream {
    /// Another handle of the stream.
    pub fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Unix(of) => Stream::Unix(of.try_clone()?),
            Stream::Tcp(of) => Stream::Tcp(of.try_clone()?),
        })
    }

    /// Ends reads and writes of all handles.
    pub fn shut_down(&self) {
        // An error says that the client has ended it.
        let _ = either!(self, of => of.shutdown(Shutdown::Both));
    }

    /// Longest time that one read may wait; `None` for ever.
    pub fn set_read_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        either!(self, of => of.set_read_timeout(most))
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        either!(self, of => (&mut &*of).read(buffer))
    }
}

impl Write for &Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        either!(self, of => (&mut &*of).write(buffer))
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
                let listener = UnixListener::bind(path)?;
                // Only this user: the protocol has no passwords.
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o600))?;
                Ok(Listener::Unix(listener, path.clone()))
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
            Listener::Unix(of, _) => of.accept().map(|(stream, _)| Stream::Unix(stream)),
            Listener::Tcp(of) => {
                let (stream, _) = of.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
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
