//! Negotiation: the handshake of a connection, with TLS where its listener has it.

use super::input::{End, Input, is_timeout};
use super::shared::{Shared, Terms};
use super::stream::Stream;
use crate::protocol::{Export, Handshake, Reached, Replies, Tls};
use rustls::ServerConfig;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the negotiation leaves to the transmission.
pub struct Begun<'a> {
    /// Form of the replies.
    pub replies: Replies,
    /// Bytes received.
    pub input: Input,
    /// The export.
    pub export: &'a Export,
}

/// Runs the handshake; `None` if the client has ended it.
pub fn negotiate<'a>(shared: &Shared, terms: &'a Terms, stream: &Stream) -> Result<Option<Begun<'a>>, End> {
    let (mut input, mut out) = (Input::new(), Vec::new());
    let mut handshake = Handshake::begin(terms.tls.as_ref().map_or(Tls::Off, |_| Tls::Required), &mut out);
    let began = Instant::now();
    loop {
        let received = handshake.receive(&terms.export, input.waiting(), &mut out);
        let (taken, reached) = received.map_err(|fault| End::Fault(fault.to_string()))?;
        input.take(taken);
        let sent = { stream }.write_all(&out);
        out.clear();
        let left = shared.patience.saturating_sub(began.elapsed());
        match reached {
            // A client that has ended its handshake may be gone before the answer.
            Reached::Ended => return ended(&handshake).map_or(Ok(None), Err),
            _ if sent.is_err() => return Err(left_early()),
            Reached::Transmission(replies) => {
                return Ok(Some(Begun { replies, input, export: &terms.export }));
            }
            Reached::StartTls => {
                let config = terms.tls.as_ref().expect("the handshake begins TLS where it is required");
                encrypt(stream, config, &input, left)?;
                handshake.is_encrypted();
                continue;
            }
            Reached::More if taken > 0 => continue,
            Reached::More => {}
        }
        if left.is_zero() {
            return Err(End::Fault(format!("a handshake of more than {} s", shared.patience.as_secs_f64())));
        }
        match stream.set_read_timeout(Some(left)).and_then(|()| input.fill(stream, 0)) {
            Ok(0) => return Err(ended(&handshake).unwrap_or_else(left_early)),
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(End::of(&error)),
            Err(_) => return Err(left_early()),
        }
    }
}

/// Why a client that ends its handshake got no export, if it did not want that.
fn ended(handshake: &Handshake) -> Option<End> {
    let why = "a client without TLS, which this address needs";
    handshake.was_refused_for_tls().then(|| End::Fault(why.into()))
}

fn left_early() -> End {
    End::Fault("the client left during the handshake".into())
}

fn encrypt(stream: &Stream, config: &Arc<ServerConfig>, input: &Input, left: Duration) -> Result<(), End> {
    if !input.waiting().is_empty() {
        // They would count as encrypted.
        return Err(End::Fault("bytes between STARTTLS and TLS".into()));
    }
    stream.encrypt(config, left).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => End::Fault(error.to_string()),
        _ if is_timeout(&error) => End::Fault("TLS: the client does not end its handshake".into()),
        _ => End::Fault("TLS: the client left during its handshake".into()),
    })
}
