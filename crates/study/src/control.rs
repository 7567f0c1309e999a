//! Run control: progress, notes, results and stop request, shared between a run and its observer.

use crate::record::{RecordSpec, RowBatches};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Progress callback: phase, done, total and unit as in [`Progress`]; returns false to stop.
pub type ProgressFn<'a> = dyn Fn(&str, u64, u64, &str) -> bool + 'a;

/// Progress of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Name of the case.
    pub case: String,
    /// Current phase.
    pub phase: String,
    /// Completed work, in `unit`.
    pub done: u64,
    /// Total work, in `unit`; zero if unknown.
    pub total: u64,
    /// Unit of `done` and `total`.
    pub unit: String,
}

/// State shared between a run and its observer.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    progress: Mutex<Vec<Progress>>,
    notes: Mutex<Vec<NoteGroup>>,
    ended: Mutex<Vec<(usize, String)>>,
    /// Recording of each case; further cases record nothing.
    pub(crate) records: Vec<RecordSpec>,
    /// Recorded rows.
    pub rows: Arc<RowBatches>,
}

/// Notes on one subject.
#[derive(Clone, Default)]
struct NoteGroup {
    lines: Vec<String>,
    /// The group is complete.
    closed: bool,
}

impl Control {
    /// Control without recording.
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// Control of a run that records its cases.
    pub fn recording(records: Vec<RecordSpec>) -> Arc<Control> {
        Arc::new(Control { records, ..Control::default() })
    }

    /// Requests an early end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether an early end was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Progress of every case.
    pub fn progress(&self) -> Vec<Progress> {
        lock(&self.progress).clone()
    }

    /// Notes for the user, group by group. A group waits until all earlier groups are closed, so the order does not
    /// depend on thread timing.
    pub fn notes(&self) -> Vec<String> {
        let groups = lock(&self.notes);
        let visible = groups.iter().position(|c| !c.closed).map_or(groups.len(), |open| open + 1);
        groups[..visible].iter().flat_map(|c| c.lines.iter().cloned()).collect()
    }

    /// Results of the cases that ended since the last call: index and JSON text.
    pub fn take_results(&self) -> Vec<(usize, String)> {
        std::mem::take(&mut *lock(&self.ended))
    }

    /// Stores the result of case `index`.
    pub(crate) fn end(&self, index: usize, result: String) {
        lock(&self.ended).push((index, result));
    }

    /// Starts a run: all cases wait, and `groups` groups of notes will follow.
    pub(crate) fn begin<'a>(&self, cases: impl Iterator<Item = &'a str>, groups: usize) {
        let waiting =
            |name: &str| Progress { case: name.into(), phase: "waiting".into(), ..Progress::default() };
        *lock(&self.progress) = cases.map(waiting).collect();
        *lock(&self.notes) = vec![NoteGroup::default(); groups];
    }

    /// Adds a note unless the group has it already: several cases may replay one trace.
    pub(crate) fn note(&self, group: usize, text: String) {
        let lines = &mut lock(&self.notes)[group].lines;
        if !lines.contains(&text) {
            lines.push(text);
        }
    }

    /// Marks a group as complete.
    pub(crate) fn close(&self, group: usize) {
        lock(&self.notes)[group].closed = true;
    }

    /// Publishes progress of case `index`.
    pub(crate) fn publish(&self, index: usize, phase: &str, done: u64, total: u64, unit: &str) {
        let entry = &mut lock(&self.progress)[index];
        if entry.phase != phase {
            entry.phase = phase.to_string();
            entry.unit = unit.to_string();
        }
        (entry.done, entry.total) = (done, total);
    }
}

/// Locks a mutex. Guarded data is consistent between statements, so poison is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_in_the_order_of_chapters_and_none_is_ever_taken_back() {
        let control = Control::default();
        control.begin(["a", "b"].into_iter(), 3);
        control.note(2, "the second state".into());
        assert!(control.notes().is_empty());
        control.note(0, "a trace".into());
        control.note(0, "a trace".into());
        assert_eq!(control.notes(), ["a trace"]);
        control.close(0);
        control.close(2);
        control.note(1, "the first state".into());
        assert_eq!(control.notes(), ["a trace", "the first state"]);
        control.close(1);
        assert_eq!(control.notes(), ["a trace", "the first state", "the second state"]);
    }
}
