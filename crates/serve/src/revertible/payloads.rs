//! Payloads: data of writes that the drive has not yet taken.

use crate::command::Command;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a command writes.
#[derive(Debug, PartialEq, Eq)]
pub enum Payload {
    /// These bytes.
    Data(Box<[u8]>),
    /// Zeroes, which stay allocated if `no_hole`.
    Zeroes {
        /// No holes.
        no_hole: bool,
    },
}

/// Payloads by connection and number of the command.
#[derive(Debug, Default)]
pub struct Payloads(Mutex<HashMap<(u64, u64), Payload>>);

impl Payloads {
    fn lock(&self) -> MutexGuard<'_, HashMap<(u64, u64), Payload>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what `command` writes, before it is submitted.
    pub fn put(&self, command: &Command, payload: Payload) {
        self.lock().insert((command.connection, command.cookie), payload);
    }

    /// Drops what `command` writes.
    pub fn take(&self, command: &Command) -> Option<Payload> {
        self.lock().remove(&(command.connection, command.cookie))
    }

    /// Passes what `command` writes to `with`.
    pub fn with<T>(&self, command: &Command, with: impl FnOnce(Option<&Payload>) -> T) -> T {
        with(self.lock().get(&(command.connection, command.cookie)))
    }
}
