//! Sockets of clients, of the file system and of TCP.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Socket of one client.
pub enum Socket {
    /// Of the file system.
    Unix(UnixStream),
    /// Of TCP.
    Tcp(TcpStream),
}

macro_rules! either {
    ($socket:expr, $of:ident => $do:expr) => {
        match $socket {
            Socket::Unix($of) => $do,
            Socket::Tcp($of) => $do,
        }
    };
}

impl Socket {
    /// Ends reads and writes of all threads.
    pub fn shut_down(&self) -> io::Result<()> {
        either!(self, of => of.shutdown(Shutdown::Both))
    }

    /// Longest time that one read may wait; `None` for ever.
    pub fn set_read_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        either!(self, of => of.set_read_timeout(most))
    }

    /// Longest time that one write may wait; `None` for ever.
    pub fn set_write_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        either!(self, of => of.set_write_timeout(most))
    }
}

impl Read for &Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        either!(self, of => (&mut &*of).read(buffer))
    }
}

impl Write for &Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        either!(self, of => (&mut &*of).write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
