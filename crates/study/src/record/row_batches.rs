//! Row batches: bounded queue of recorded rows between running cases and their consumer.

use super::columns::Column;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Capacity: a case waits while the queue is full, so that memory is bounded.
const MOST: usize = 4;

/// Rows of one table of one case.
#[derive(Clone, Debug)]
pub struct RowBatch {
    /// Index of the case.
    pub case: usize,
    /// Table name. `end` follows the last rows of a case, with one row: the number of ended requests and whether the
    /// run completed.
    pub table: String,
    /// Number of rows.
    pub rows: usize,
    /// Columns of that many values.
    pub columns: Vec<Column>,
}

/// Queue of row batches.
#[derive(Default)]
pub struct RowBatches {
    inside: Mutex<Inside>,
    changed: Condvar,
}

#[derive(Default)]
struct Inside {
    waiting: VecDeque<RowBatch>,
    closed: bool,
}

impl RowBatches {
    /// Guarded data is consistent between statements, so poison is ignored.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a batch once the queue has space; discards it after [`RowBatches::close`].
    fn push(&self, chunk: RowBatch) {
        let full = |inside: &mut Inside| !inside.closed && inside.waiting.len() >= MOST;
        let waited = self.changed.wait_while(self.lock(), full);
        let mut inside = waited.unwrap_or_else(PoisonError::into_inner);
        if !inside.closed {
            inside.waiting.push_back(chunk);
            self.changed.notify_all();
        }
    }

    /// Takes the oldest batch; waits for one at most `patience`.
    pub fn take(&self, patience: Duration) -> Option<RowBatch> {
        let empty = |inside: &mut Inside| !inside.closed && inside.waiting.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), patience, empty);
        let (mut inside, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let chunk = inside.waiting.pop_front();
        self.changed.notify_all();
        chunk
    }

    /// Closes the queue: senders no longer wait.
    pub fn close(&self) {
        let mut inside = self.lock();
        inside.closed = true;
        inside.waiting.clear();
        self.changed.notify_all();
    }
}

/// Sender of the rows of one case.
#[derive(Clone)]
pub(super) struct BatchSender {
    case: usize,
    batches: Arc<RowBatches>,
}

impl BatchSender {
    pub(super) fn new(case: usize, batches: &Arc<RowBatches>) -> BatchSender {
        BatchSender { case, batches: Arc::clone(batches) }
    }

    /// Sends rows.
    pub(super) fn send(&self, table: impl Into<String>, rows: usize, columns: Vec<Column>) {
        self.batches.push(RowBatch { case: self.case, table: table.into(), rows, columns });
    }

    /// Sends the end of a case.
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
        let (batches, sent) = (Arc::new(RowBatches::default()), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let sender = BatchSender::new(3, &batches);
                for k in 0..20 {
                    sender.send("t", k, Vec::new());
                    sent.store(k + 1, Ordering::SeqCst);
                }
            });
            for k in 0..10 {
                let chunk = batches.take(Duration::from_secs(60)).expect("one comes");
                assert_eq!((chunk.case, chunk.rows), (3, k));
                assert!(sent.load(Ordering::SeqCst) <= k + 1 + MOST, "no more than fit are sent");
            }
            batches.close();
        });
        assert_eq!(sent.load(Ordering::SeqCst), 20);
        assert!(batches.take(Duration::ZERO).is_none());
    }
}
