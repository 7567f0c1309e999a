//! NBD protocol as pure functions: bytes of a client in, requests and bytes for the client out. Nothing here opens a socket.
//!
//! Source: the specification of the NBD project (`doc/proto.md`), fixed newstyle handshake with structured replies and the
//! context `base:allocation`.

pub mod export;
pub mod fault;
mod fields;
pub mod handshake;
pub mod numbers;
pub mod replies;
pub mod requests;

pub use export::Export;
pub use fault::Fault;
pub use handshake::{Handshake, Reached, Tls};
pub use numbers::ErrorNumber;
pub use replies::{Extent, Replies};
pub use requests::{Ask, Next, Request};
