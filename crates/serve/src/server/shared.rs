//! State that the threads of a server share.

use super::budget::Budget;
use super::connection::Connection;
use super::stream::Stream;
use crate::command::Done;
use crate::drive::simulated_drive::SimulatedDrive;
use crate::protocol::Export;
use crate::revertible::Payloads;
use crate::store::Store;
use rustls::ServerConfig;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Receives one line about each fault of a client and each connection that is refused.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// State that all threads share.
pub struct Shared {
    pub drive: Arc<SimulatedDrive>,
    pub store: Arc<Store>,
    /// Data of writes that the drive takes later; `None` where data are stored when they are received.
    pub payloads: Option<Arc<Payloads>>,
    pub budget: Budget,
    pub connections: Arc<Connections>,
    pub most: usize,
    pub log: Log,
    /// Longest time of a handshake, and of a request from its first byte to its last.
    pub patience: Duration,
    pub is_stopping: AtomicBool,
}

/// What the clients of one listener get.
pub struct Terms {
    pub export: Export,
    /// TLS, which they then need.
    pub tls: Option<Arc<ServerConfig>>,
}

/// A connection with its stream.
pub type Open = (Arc<Connection>, Arc<Stream>);

/// Connections by their number.
#[derive(Default)]
pub struct Connections {
    open: Mutex<HashMap<u64, Open>>,
    pub next: AtomicU64,
}

impl Connections {
    /// Locks the open ones.
    pub fn lock(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers completions to their connections.
    pub fn deliver(&self, done: &[Done]) {
        let open = self.lock();
        for of in done.chunk_by(|a, b| a.connection == b.connection) {
            if let Some((connection, _)) = open.get(&of[0].connection) {
                connection.complete(of);
            }
        }
    }
}
