//! State of one connection, shared by its reader, its writer and the thread of the drive.

use crate::command::{Done, Outcome};
use crate::protocol::{Ask, Request};
use slab::Slab;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most requests of a connection that are under way.
pub const MOST_REQUESTS: usize = 1024;
/// Most bytes of reads of a connection that are under way, beyond one request, with those of writes that wait with their data.
const MOST_HELD_BYTES: u64 = 64 << 20;
/// Most bytes of replies that wait for the writer beside completions; the reader waits for room.
const MOST_READY: usize = 1 << 20;

/// State under the lock.
#[derive(Default)]
pub struct Inner {
    /// Requests that the drive executes.
    pub pending: Slab<Request>,
    /// Completions that the writer has not taken.
    pub done: Vec<Done>,
    /// Replies that are ready to be sent.
    pub ready: Vec<u8>,
    /// Bytes of pending requests that take memory.
    pub held_bytes: u64,
    /// No more requests will come.
    pub is_ending: bool,
    /// The socket has failed: nothing more can be sent.
    pub is_broken: bool,
}

impl Inner {
    /// Whether another request may begin.
    fn has_room(&self) -> bool {
        self.pending.len() < MOST_REQUESTS
            && self.held_bytes < MOST_HELD_BYTES
            && self.ready.len() < MOST_READY
    }
}

/// A connection.
#[derive(Default)]
pub struct Connection {
    inner: Mutex<Inner>,
    /// Wakes the writer.
    work: Condvar,
    /// Wakes the reader.
    room: Condvar,
    /// Writes wait with their data until the drive takes them.
    holds_writes: bool,
}

impl Connection {
    /// A new connection; with `holds_writes` the data of writes are in memory until the drive takes them.
    pub fn new(holds_writes: bool) -> Connection {
        Connection { holds_writes, ..Connection::default() }
    }

    /// Bytes of memory that a request takes while it is pending.
    pub fn held_by(&self, request: &Request) -> u64 {
        let takes = match request.ask {
            Ask::Read => true,
            Ask::Write { .. } => self.holds_writes,
            _ => false,
        };
        if takes { u64::from(request.length) } else { 0 }
    }

    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds completions, all of this connection.
    pub fn complete(&self, done: &[Done]) {
        self.lock().done.extend_from_slice(done);
        self.work.notify_one();
    }

    /// Wakes the writer for ready replies or the end.
    pub fn wake_writer(&self) {
        self.work.notify_one();
    }

    /// Waits until another request may begin; false if the socket has failed.
    pub fn wait_for_room(&self) -> bool {
        let mut inner = self.lock();
        while !inner.has_room() && !inner.is_broken {
            inner = self.room.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        !inner.is_broken
    }

    /// Waits for work of the writer and takes it; `None` if all has been sent and no more will come.
    pub fn take_work(&self, done: &mut Vec<(Request, Outcome)>, ready: &mut Vec<u8>) -> Option<()> {
        let mut inner = self.lock();
        while inner.done.is_empty() && inner.ready.is_empty() {
            if inner.is_ending && inner.pending.is_empty() {
                return None;
            }
            inner = self.work.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut inner.ready, ready);
        let Inner { done: completed, pending, .. } = &mut *inner;
        // Requests that were withdrawn when the drive ended are gone.
        let of = |of: Done| Some((pending.try_remove(of.cookie as usize)?, of.outcome));
        done.extend(completed.drain(..).filter_map(of));
        Some(())
    }

    /// Frees the room of requests whose replies have been sent.
    pub fn has_sent(&self, held_bytes: u64) {
        self.lock().held_bytes -= held_bytes;
        self.room.notify_one();
    }

    /// The socket has failed: nothing is sent any more.
    pub fn breaks(&self) {
        self.lock().is_broken = true;
        self.room.notify_one();
    }

    /// The reader ends: the writer does when all is sent.
    pub fn ends(&self) {
        self.lock().is_ending = true;
        self.work.notify_one();
    }
}
