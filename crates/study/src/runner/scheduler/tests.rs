//! Scheduler tests: overlap, order and limits.

use super::*;
use std::time::Duration;

/// Barrier for threads; the timeout only ends a failing test.
#[derive(Default)]
struct Meeting {
    here: Mutex<usize>,
    came: Condvar,
}

impl Meeting {
    /// Whether `n` threads arrived.
    fn of(&self, n: usize) -> bool {
        let mut here = lock(&self.here);
        *here += 1;
        self.came.notify_all();
        let waited = self.came.wait_timeout_while(here, Duration::from_secs(60), |here| *here < n);
        !waited.expect("nobody panics").1.timed_out()
    }
}

#[test]
fn states_are_made_and_cases_of_different_states_run_side_by_side() {
    let (making, running) = (Meeting::default(), Meeting::default());
    let limits = Limits { jobs: 2, states: 2 };
    let prepare = |state: usize, ()| {
        assert!(making.of(2), "state {state} was made alone");
        state
    };
    let results = run_cases(
        &[vec![0], vec![1]],
        limits,
        |_| (),
        prepare,
        |case, state, ()| (case, state, running.of(2)),
    );
    assert_eq!(results, [(0, 0, true), (1, 1, true)]);
}

#[test]
fn results_are_in_the_order_of_cases_and_from_their_own_states() {
    let cases_of = [vec![0, 3, 4], vec![1], vec![2, 5]];
    for jobs in [1, 2, 3, 9] {
        for states in 1..=3 {
            let results = run_cases(
                &cases_of,
                Limits { jobs, states },
                |_| (),
                |s, ()| s * 100,
                |case, state, ()| state + case,
            );
            assert_eq!(results, [0, 101, 202, 3, 4, 205], "{jobs} jobs, {states} states");
        }
    }
}

/// A state that counts its live copies.
struct Counted<'a>(&'a Alive);

#[derive(Default)]
struct Alive {
    now: AtomicUsize,
    most: AtomicUsize,
    copies: AtomicUsize,
}

impl Alive {
    fn one_more(&self) -> Counted<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Counted(self)
    }
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        self.0.copies.fetch_add(1, Ordering::SeqCst);
        self.0.one_more()
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn no_more_states_are_alive_than_cases_running_and_states_allowed() {
    let cases_of: Vec<Vec<usize>> = (0..20).map(|s| (3 * s..3 * s + 3).collect()).collect();
    for (jobs, states) in [(1, 1), (2, 1), (3, 2), (4, 4)] {
        let alive = Alive::default();
        run_cases(
            &cases_of,
            Limits { jobs, states },
            |_| (),
            |_, ()| alive.one_more(),
            |_, _, ()| std::thread::yield_now(),
        );
        assert!(alive.most.into_inner() <= jobs + states, "{jobs} jobs, {states} states");
        assert_eq!(alive.copies.into_inner(), 40, "the last of three cases takes the state itself");
        assert_eq!(alive.now.into_inner(), 0);
    }
}
