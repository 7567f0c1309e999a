//! What a run shares with whoever watches it: how far each case has come, lines to tell the user, the wish to stop.

use crate::record::{Outbox, RecordSpec};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes phase, done, to do and unit as in [`Progress`]; returns false to stop.
pub type Tell<'a> = dyn Fn(&str, u64, u64, &str) -> bool + 'a;

/// How far a case has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Name of the case.
    pub case: String,
    /// What it is doing.
    pub phase: String,
    /// Done, in `unit`.
    pub done: u64,
    /// To do, in `unit`; zero if unknown.
    pub total: u64,
    /// What is counted.
    pub unit: String,
}

/// Shared between a run and whoever watches it.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    progress: Mutex<Vec<Progress>>,
    notes: Mutex<Vec<Chapter>>,
    ended: Mutex<Vec<(usize, String)>>,
    /// What is to be recorded of each case; of those beyond the last nothing.
    pub(crate) records: Vec<RecordSpec>,
    /// Where what is recorded goes.
    pub outbox: Arc<Outbox>,
}

/// The lines about one thing.
#[derive(Clone, Default)]
struct Chapter {
    lines: Vec<String>,
    /// No more will come.
    closed: bool,
}

impl Control {
    /// A fresh one.
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// One of a run that records this of each case.
    pub fn recording(records: Vec<RecordSpec>) -> Arc<Control> {
        Arc::new(Control { records, ..Control::default() })
    }

    /// Asks the run to end early.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run has been asked to end early.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far every case has come.
    pub fn progress(&self) -> Vec<Progress> {
        lock(&self.progress).clone()
    }

    /// Lines to tell the user, chapter by chapter: those of a chapter wait until the ones before are closed, so that
    /// their order does not depend on which of two threads is faster.
    pub fn notes(&self) -> Vec<String> {
        let chapters = lock(&self.notes);
        let told = chapters.iter().position(|c| !c.closed).map_or(chapters.len(), |open| open + 1);
        chapters[..told].iter().flat_map(|c| c.lines.iter().cloned()).collect()
    }

    /// The results, as JSON text, of the cases that have ended since the last call, each with the index of its case.
    pub fn take_ended(&self) -> Vec<(usize, String)> {
        std::mem::take(&mut *lock(&self.ended))
    }

    /// Case `index` has a result.
    pub(crate) fn end(&self, index: usize, result: String) {
        lock(&self.ended).push((index, result));
    }

    /// A run begins: all cases wait, and there will be so many chapters of notes.
    pub(crate) fn begin<'a>(&self, cases: impl Iterator<Item = &'a str>, chapters: usize) {
        let waiting =
            |name: &str| Progress { case: name.into(), phase: "waiting".into(), ..Progress::default() };
        *lock(&self.progress) = cases.map(waiting).collect();
        *lock(&self.notes) = vec![Chapter::default(); chapters];
    }

    /// Adds a line to a chapter, unless it says the same already: several cases may replay one trace.
    pub(crate) fn note(&self, chapter: usize, text: String) {
        let lines = &mut lock(&self.notes)[chapter].lines;
        if !lines.contains(&text) {
            lines.push(text);
        }
    }

    /// A chapter is complete.
    pub(crate) fn close(&self, chapter: usize) {
        lock(&self.notes)[chapter].closed = true;
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

/// What is guarded is whole between any two statements, so a panic elsewhere spoils nothing.
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
