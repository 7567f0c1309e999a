//! Tests of the machine: rank order, waiting and cancellation.

use super::free_memory::FreeMemory;
use super::*;
use crate::control::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Waits until `holds`; the limit only ends a failing test.
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

#[test]
fn an_idle_core_goes_to_the_lowest_rank_and_then_to_the_others() {
    let cores = Cores::new(1);
    let first = cores.take(7, &mut || false).expect("it is idle");
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (waiting, rank) in [3, 5, 1].into_iter().enumerate() {
            let (cores, order) = (&cores, &order);
            scope.spawn(move || {
                let _core = cores.take(rank, &mut || false);
                lock(order).push(rank);
            });
            until("nobody waits", || cores.waiting() == waiting + 1);
        }
        drop(first);
    });
    assert_eq!(*lock(&order), [1, 3, 5]);
}

#[test]
fn who_gives_up_has_no_core_and_stands_in_nobodys_way() {
    let machine = Machine::new(1);
    assert!(machine.take(1, Duration::ZERO));
    assert!(!machine.take(0, Duration::ZERO), "there is one core");
    assert_eq!(machine.cores.waiting(), 0);
    machine.give();
    assert!(machine.take(1, Duration::ZERO));
}

/// Free memory of a machine.
fn free(bytes: u64) -> impl Fn() -> Option<FreeMemory> {
    move || Some(FreeMemory { bytes, by: "" })
}

#[test]
fn no_run_begins_beside_others_that_memory_is_not_for() {
    let reservations = MemoryReservations::default();
    let now = &mut || true;
    let first = reservations.reserve(0, 900, &free(500), now).expect("a single run always starts");
    assert!(reservations.reserve(1, 1, &free(900), now).is_none(), "900 are reserved, 900 are free");
    let second = reservations.reserve(1, 100, &free(1000), now).expect("both fit");
    first.shrink(10);
    assert!(reservations.reserve(2, 400, &free(500), now).is_none(), "110 are reserved");
    let third = reservations.reserve(2, 390, &free(500), now).expect("110 are reserved");
    drop((first, second));
    assert!(reservations.reserve(3, 1, &free(390), now).is_none());
    drop(third);
    assert!(reservations.reserve(3, 391, &free(390), now).is_some(), "nobody else is there");
    assert!(
        reservations.reserve(3, u64::MAX, &|| None, now).is_some(),
        "without a known limit any reservation succeeds"
    );
}

#[test]
fn runs_ask_for_memory_in_their_order() {
    let reservations = MemoryReservations::default();
    let first = reservations.reserve(0, 500, &free(900), &mut || false).expect("it is the only one");
    let stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let large = scope.spawn(|| {
            reservations.reserve(1, 500, &free(900), &mut || stopped.load(Ordering::Relaxed)).is_some()
        });
        until("nobody asks", || reservations.pending() == 1);
        let small = || reservations.reserve(2, 1, &free(900), &mut || true).is_some();
        assert!(!small(), "it would be for ever in the way of the one before it");
        stopped.store(true, Ordering::Relaxed);
        assert!(!large.join().expect("it gives up"));
        assert!(small(), "who has given up is in nobody's way");
    });
    drop(first);
}

#[test]
fn a_state_is_made_by_one_run_at_a_time() {
    let states = SharedStates::default();
    let mine = states.claim("a").expect("nobody makes it");
    assert!(states.claim("b").is_some());
    assert!(states.claim("a").is_none());
    states.wait("b", &mut || panic!("nobody makes it any more"));
    let mut looks = 0;
    states.wait("a", &mut || {
        looks += 1;
        looks == 2
    });
    assert_eq!(looks, 2, "it waits until it gives up");
    thread::scope(|scope| {
        let other = scope.spawn(|| states.wait("a", &mut || false));
        drop(mine);
        other.join().expect("it waits no longer");
    });
    assert!(states.claim("a").is_some());
}
