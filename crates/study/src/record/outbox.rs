//! Chunks of rows on their way from the cases that run to whoever stores them.

use super::columns::Column;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Chunks that wait at most; a case with one more waits until somebody has taken one, so that memory is bounded.
const MOST: usize = 4;

/// Rows of one table of one case.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The index of the case.
    pub case: usize,
    /// The table; `end` after the last row of a case, with its only row: how many requests have ended, and whether the run is
    /// whole.
    pub table: String,
    /// How many rows.
    pub rows: usize,
    /// Columns of so many values.
    pub columns: Vec<Column>,
}

/// Chunks in order.
#[derive(Default)]
pub struct Outbox {
    inside: Mutex<Inside>,
    changed: Condvar,
}

#[derive(Default)]
struct Inside {
    waiting: VecDeque<Chunk>,
    closed: bool,
}

impl Outbox {
    /// What is guarded is whole between any two statements.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a chunk, once there is room. Nobody gets what comes after [`Outbox::close`].
    fn push(&self, chunk: Chunk) {
        let full = |inside: &mut Inside| !inside.closed && inside.waiting.len() >= MOST;
        let waited = self.changed.wait_while(self.lock(), full);
        let mut inside = waited.unwrap_or_else(PoisonError::into_inner);
        if !inside.closed {
            inside.waiting.push_back(chunk);
            self.changed.notify_all();
        }
    }

    /// The oldest chunk; waits for one no longer than `patience`.
    pub fn take(&self, patience: Duration) -> Option<Chunk> {
        let empty = |inside: &mut Inside| !inside.closed && inside.waiting.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), patience, empty);
        let (mut inside, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let chunk = inside.waiting.pop_front();
        self.changed.notify_all();
        chunk
    }

    /// Nobody will take a chunk any more: nobody has to wait to add one.
    pub fn close(&self) {
        let mut inside = self.lock();
        inside.closed = true;
        inside.waiting.clear();
        self.changed.notify_all();
    }
}

/// Sends the rows of one case.
#[derive(Clone)]
pub(super) struct Sender {
    case: usize,
    outbox: Arc<Outbox>,
}

impl Sender {
    pub(super) fn new(case: usize, outbox: &Arc<Outbox>) -> Sender {
        Sender { case, outbox: Arc::clone(outbox) }
    }

    /// Sends rows.
    pub(super) fn send(&self, table: impl Into<String>, rows: usize, columns: Vec<Column>) {
        self.outbox.push(Chunk { case: self.case, table: table.into(), rows, columns });
    }

    /// No more rows come.
    pub(super) fn end(&self, requests: u64, whole: bool) {
        let columns = vec![
            Column::whole("requests", vec![requests as i64]),
            Column::whole("whole", vec![i64::from(whole)]),
        ];
        self.send("end", 1, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn who_sends_waits_for_room_and_who_closes_lets_go() {
        let (outbox, sent) = (Arc::new(Outbox::default()), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let sender = Sender::new(3, &outbox);
                for k in 0..20 {
                    sender.send("t", k, Vec::new());
                    sent.store(k + 1, Ordering::SeqCst);
                }
            });
            for k in 0..10 {
                let chunk = outbox.take(Duration::from_secs(60)).expect("one comes");
                assert_eq!((chunk.case, chunk.rows), (3, k));
                assert!(sent.load(Ordering::SeqCst) <= k + 1 + MOST, "no more than fit are sent");
            }
            outbox.close();
        });
        assert_eq!(sent.load(Ordering::SeqCst), 20);
        assert!(outbox.take(Duration::ZERO).is_none());
    }
}
