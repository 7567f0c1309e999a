//! Addresses that a server listens on.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket of the file system.
    Unix(PathBuf),
    /// TCP; port 0 takes a free one.
    Tcp(SocketAddr),
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("listen: seen {seen:?}; expected {expected}")]
pub struct AddressError {
    seen: String,
    expected: &'static str,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let wrong = |expected| AddressError { seen: text.into(), expected };
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(path.into())),
            Some(("tcp", at)) => {
                let expected = "tcp:HOST:PORT, such as tcp:127.0.0.1:10809";
                let found = at.to_socket_addrs().ok().and_then(|mut all| all.next());
                let at = found.ok_or_else(|| wrong(expected))?;
                Ok(Address::Tcp(at))
            }
            _ => Err(wrong("unix:PATH or tcp:HOST:PORT")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(at) => write!(f, "tcp:{at}"),
        }
    }
}

impl Address {
    /// Whether clients of this machine alone reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            Address::Tcp(at) => at.ip().is_loopback(),
        }
    }

    /// The address as clients of the NBD project write it.
    pub fn uri(&self, export: &str, with_tls: bool) -> String {
        match self {
            Address::Unix(path) => format!("nbd+unix:///{export}?socket={}", path.display()),
            Address::Tcp(at) if with_tls => format!("nbds://{at}/{export}"),
            Address::Tcp(at) => format!("nbd://{at}/{export}"),
        }
    }
}
