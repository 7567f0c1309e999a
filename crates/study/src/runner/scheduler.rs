//! Scheduler: builds initial states and runs cases on several threads.
//!
//! A case starts when its state is ready. A free thread runs a waiting case before it builds another state, so that few states
//! are in memory.

use crate::control::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Concurrency limits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads: states being built plus running cases.
    pub jobs: usize,
    /// States being built or kept for waiting cases.
    pub states: usize,
}

/// Builds every state and runs every case; returns results in the order of the cases. `cases_of` lists the cases of
/// each state, each case once. `core` waits for a free core, and gives up when the function that it receives returns true
/// (no case is left). `prepare` and `run` receive the core and release it; neither may panic.
pub fn run_cases<C, S: Clone + Send, R: Send>(
    cases_of: &[Vec<usize>],
    limits: Limits,
    core: impl Fn(&dyn Fn() -> bool) -> C + Sync,
    prepare: impl Fn(usize, C) -> S + Sync,
    run: impl Fn(usize, S, C) -> R + Sync,
) -> Vec<R> {
    let cases: usize = cases_of.iter().map(Vec::len).sum();
    let queue = Mutex::new(WorkQueue { next: 0, making: 0, ready: BTreeMap::new() });
    let changed = Condvar::new();
    let done = Mutex::new(Vec::with_capacity(cases));
    let to_begin = AtomicUsize::new(cases);
    let worker = || {
        loop {
            let core = core(&|| to_begin.load(Ordering::Relaxed) == 0);
            let mut open = lock(&queue);
            if let Some((case, stock)) = open.take_case() {
                to_begin.fetch_sub(1, Ordering::Relaxed);
                changed.notify_all();
                drop(open);
                let result = run(case, stock.draw(), core);
                lock(&done).push((case, result));
            } else if open.next < cases_of.len() && open.making + open.ready.len() < limits.states {
                let state = open.next;
                open.next += 1;
                open.making += 1;
                drop(open);
                let made = prepare(state, core);
                open = lock(&queue);
                open.making -= 1;
                open.ready.insert(state, ReadyState::new(made, &cases_of[state]));
                changed.notify_all();
            } else if open.making > 0 {
                // Another thread may use the core meanwhile.
                drop(core);
                drop(wait(&changed, open));
            } else {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..limits.jobs.min(cases) {
            // If the system creates no further thread, those already started continue.
            if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(case, _)| case);
    done.into_iter().map(|(_, result)| result).collect()
}

fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Remaining work.
struct WorkQueue<'a, S> {
    /// First state not started.
    next: usize,
    /// States being built.
    making: usize,
    /// Ready states with waiting cases.
    ready: BTreeMap<usize, ReadyState<'a, S>>,
}

/// A state and its waiting cases.
struct ReadyState<'a, S> {
    stock: Arc<SharedState<S>>,
    cases: &'a [usize],
}

impl<'a, S: Clone> ReadyState<'a, S> {
    fn new(state: S, cases: &'a [usize]) -> ReadyState<'a, S> {
        ReadyState { stock: Arc::new(SharedState(Mutex::new((cases.len(), Some(state))))), cases }
    }
}

impl<S> WorkQueue<'_, S> {
    /// Takes the first case that can start.
    fn take_case(&mut self) -> Option<(usize, Arc<SharedState<S>>)> {
        let mut first = self.ready.first_entry()?;
        let waiting = first.get_mut();
        let (&case, rest) = waiting.cases.split_first().expect("a state with cases to start");
        waiting.cases = rest;
        let stock = Arc::clone(&waiting.stock);
        if rest.is_empty() {
            first.remove();
        }
        Some((case, stock))
    }
}

/// A state and the number of cases that still need it.
struct SharedState<S>(Mutex<(usize, Option<S>)>);

impl<S: Clone> SharedState<S> {
    /// A clone; the last case takes the state itself. Cloning blocks only cases of the same state.
    fn draw(&self) -> S {
        let (left, state) = &mut *lock(&self.0);
        *left -= 1;
        let drawn = if *left == 0 { state.take() } else { state.clone() };
        drawn.expect("the state is taken by the last case only")
    }
}

#[cfg(test)]
mod tests;
