//! The order of work: states are made and cases run from them, several at a time on a thread each.
//!
//! A case starts when its state is there; cases go before states that nobody needs yet, so that no more states stand
//! about than there are threads.

use crate::control::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How much goes on at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads: states being made and cases running together.
    pub jobs: usize,
    /// States being made or kept for cases still to start.
    pub states: usize,
}

/// Makes every state and runs every case. `cases_of` has the cases of each state, every case once; the results are in
/// the order of the cases. `core` waits for what a thread has to have to do something, until it is told that there is
/// nothing left to begin; `prepare` and `run` are given it and let it go. Neither may panic.
pub fn work<C, S: Clone + Send, R: Send>(
    cases_of: &[Vec<usize>],
    limits: Limits,
    core: impl Fn(&dyn Fn() -> bool) -> C + Sync,
    prepare: impl Fn(usize, C) -> S + Sync,
    run: impl Fn(usize, S, C) -> R + Sync,
) -> Vec<R> {
    let cases: usize = cases_of.iter().map(Vec::len).sum();
    let queue = Mutex::new(Queue { next: 0, making: 0, ready: BTreeMap::new() });
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
                open.ready.insert(state, Waiting::new(made, &cases_of[state]));
                changed.notify_all();
            } else if open.making > 0 {
                // Somebody else may need it meanwhile.
                drop(core);
                drop(wait(&changed, open));
            } else {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..limits.jobs.min(cases) {
            // Where the system has no more threads, those that there are do the work.
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

/// What is to be done.
struct Queue<'a, S> {
    /// The first state that nobody has begun to make.
    next: usize,
    /// States being made.
    making: usize,
    /// States with cases to start.
    ready: BTreeMap<usize, Waiting<'a, S>>,
}

/// A state and the cases to start from it.
struct Waiting<'a, S> {
    stock: Arc<Stock<S>>,
    cases: &'a [usize],
}

impl<'a, S: Clone> Waiting<'a, S> {
    fn new(state: S, cases: &'a [usize]) -> Waiting<'a, S> {
        Waiting { stock: Arc::new(Stock(Mutex::new((cases.len(), Some(state))))), cases }
    }
}

impl<S> Queue<'_, S> {
    /// The first case that can start.
    fn take_case(&mut self) -> Option<(usize, Arc<Stock<S>>)> {
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

/// A state, and how many more will be asked for.
struct Stock<S>(Mutex<(usize, Option<S>)>);

impl<S: Clone> Stock<S> {
    /// A copy, the last time the state itself. Copying holds up only those who want a copy too.
    fn draw(&self) -> S {
        let (left, state) = &mut *lock(&self.0);
        *left -= 1;
        let drawn = if *left == 0 { state.take() } else { state.clone() };
        drawn.expect("the state is taken by the last case only")
    }
}

#[cfg(test)]
mod tests;
