//! Power-loss save on capacitors: work of a die before the save, time and energy of saved pages.
//!
//! The program's pulses begin at 57258, four loops of 125000; the erase's at 300, three of 1100000. Entering an erase's
//! suspension costs 40000, leaving it 30000; a program's 20000 and 10000. Saving a full program of 12 pages takes
//! 300 + 12 x 18986 and 500000: 728132.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::hold_up::die_path::Path;
use interpulse_flash::hold_up::save_plan::{Save, save};
use interpulse_flash::hold_up::worst_case::worst;
use interpulse_flash::hold_up::{Erases, Placement};
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::suspend::Scheme;

/// A page over the bus and its set-up.
const PAGE: u64 = UNITS[4] + SETUP;
const SAVE: u64 = CMD + 12 * PAGE + PULSES;

/// How long the die is in the way after a cut at `cut` if erases finish and if they stop, and whether it then holds one.
fn in_the_way(scheme: Scheme, arrivals: &[(u64, Txn)], cut: u64) -> [(u64, bool); 2] {
    let mut bench = Bench::new(&part(), suspending(scheme, &part()), 1);
    for &(at, txn) in arrivals {
        bench.at(at, txn);
    }
    bench.run_until(cut);
    [Erases::Finish, Erases::Stop].map(|erases| {
        let path = &bench.nand.paths_to_save(SimTime(cut), erases)[0];
        (path.length().as_ns(), path.holds)
    })
}

#[test]
fn a_running_erase_finishes_or_stops_by_its_scheme() {
    for (scheme, stops) in [
        // The loop ends at 1100300, and the other schemes enter in 40000.
        (DEFERRED, (700_000, true)),
        (DEFERRED_AT_A_COST, (740_000, true)),
        (Scheme::LoopBoundary, (740_000, true)),
        (Scheme::Exact, (40_000, true)),
        (Scheme::Immediate, (40_000, true)),
        (Scheme::Ideal, (0, true)),
        (Scheme::None, (2_900_000, false)),
    ] {
        let found = in_the_way(scheme, &[(0, erase(0))], 400_300);
        assert_eq!(found, [(2_900_000, false), stops], "{}", scheme.name());
    }
    // In its last loop there is no stop before its end; before its first pulse it is given up.
    assert_eq!(in_the_way(DEFERRED, &[(0, erase(0))], 2_300_300), [(1_000_000, false); 2]);
    assert_eq!(in_the_way(DEFERRED, &[(0, erase(0))], 200), [(0, false); 2]);
}

#[test]
fn a_program_finishes_whatever_becomes_of_erases() {
    for scheme in [DEFERRED, Scheme::Exact, Scheme::None] {
        assert_eq!(in_the_way(scheme, &[(0, program(0))], 100_000), [(457_258, false); 2]);
        assert_eq!(in_the_way(scheme, &[(0, program(0))], 30_000), [(0, false); 2], "loading");
        assert_eq!(in_the_way(scheme, &[(0, read(0))], 30_000), [(0, false); 2], "reading");
    }
    // Halted at 100000, entered at 120000: what is left, 457258, after the entry and the resume.
    let stopped = [(0, program(0)), (100_000, read(0))];
    assert_eq!(in_the_way(Scheme::Exact, &stopped, 105_000), [(15_000 + 10_000 + 457_258, false); 2]);
    assert_eq!(in_the_way(Scheme::Exact, &stopped, 130_000), [(10_000 + 457_258, false); 2]);
}

#[test]
fn a_suspended_erase_is_resumed_or_stays() {
    let stopped = [(0, erase(0)), (400_300, read(0))];
    // Entering until 440300, read until 495097, resuming until 525097.
    for (cut, finish, stop) in [
        (410_300, 30_000 + 30_000 + 2_900_000, 30_000),
        (450_000, 30_000 + 2_900_000, 0),
        (505_097, 20_000 + 2_900_000, 20_000 + 40_000),
    ] {
        let found = in_the_way(Scheme::Exact, &stopped, cut);
        assert_eq!(found, [(finish, false), (stop, true)], "cut at {cut}");
    }
    // Once it resumes under `deferred` it owes a loop. Halted 1100300, read until 1155097, resuming until 1185097.
    let found = in_the_way(DEFERRED, &stopped, 1_165_097);
    assert_eq!(found, [(20_000 + 2_200_000, false), (20_000 + 1_100_000, true)]);
}

/// Two dies on a channel, with erases of so much left.
fn saved(left: [u64; 2], pages: u64, placement: Placement) -> Save {
    let part = part();
    let paths = left.map(|left| {
        let mut path = Path::default();
        path.then(interpulse_flash::parts::power::Draw::ErasePulse, Duration::from_ns(left));
        path
    });
    save(&Geometry::new(1, 2, 1, &part), &part, &paths, pages, placement)
}

#[test]
fn pages_are_saved_where_it_is_soonest_or_in_turn() {
    let (first, turn) = (Placement::FirstFree, Placement::InTurn);
    let time = |left, pages, placement| saved(left, pages, placement).time.as_ns();
    assert_eq!(time([0, 0], 0, first), 0, "nothing to save takes nothing");
    assert_eq!(time([0, 0], 1, first), CMD + PAGE + PULSES);
    assert_eq!(time([0, 0], 12, first), SAVE);
    // The second die's pages wait for the channel.
    assert_eq!(time([0, 0], 24, first), 2 * (CMD + 12 * PAGE) + PULSES);
    // One die erases for 3 ms: the other takes both, or the first takes its own after that.
    assert_eq!(time([3_000_000, 0], 24, first), 2 * SAVE);
    assert_eq!(time([3_000_000, 0], 24, turn), 3_000_000 + 2 * (CMD + 12 * PAGE) + PULSES);
    // A channel takes the loads in the order of the programs: the second die's page comes behind the first's.
    let of = saved([3_000_000, 100], 12, first);
    assert_eq!((of.busy, of.programs, of.ready.as_ns()), (2, 1, 3_000_000));
    assert_eq!(of.time.as_ns(), 100 + SAVE);
}

#[test]
fn the_energy_is_that_of_what_happens_until_the_end() {
    // 3.3 V; 25 mA for pulses and verifies, 5 mA for loads, 10 uA in standby; 5 pJ a bit.
    let aj = |ua: u128, ns: u64| 3_300 * ua * u128::from(ns);
    let of = saved([3_000_000, 0], 12, Placement::FirstFree);
    assert_eq!(of.time.as_ns(), SAVE);
    assert_eq!(of.finishing, aj(25_000, SAVE), "no longer than the save");
    assert_eq!(of.saving, aj(5_000, CMD + 12 * PAGE) + aj(25_000, PULSES));
    assert_eq!(of.resting, 0);
    assert_eq!(of.bus, 12 * 17_986 * 40_000_000);
    assert_eq!(of.energy(), of.finishing + of.saving + of.bus);
    let of = saved([100_000, 0], 12, Placement::FirstFree);
    assert_eq!((of.finishing, of.resting), (aj(25_000, 100_000), aj(10, SAVE - 100_000)));
}

#[test]
fn the_worst_cut_finds_the_longest_operation_just_begun() {
    let length = |scheme, erases| {
        let config = suspending(scheme, &part());
        worst(&part(), &config.program_suspend, &config.erase_suspend, erases, false).length().as_ns()
    };
    // Entering, leaving, and the whole train where it can be suspended.
    for (scheme, finish, stop) in [
        (Scheme::None, ERASE_PULSES, ERASE_PULSES),
        (Scheme::Ideal, ERASE_PULSES, PULSES),
        (Scheme::Exact, 70_000 + ERASE_PULSES, 30_000 + PULSES),
        // A loop that it is committed to.
        (DEFERRED, 70_000 + ERASE_PULSES, ERASE_LOOP),
        (DEFERRED_AT_A_COST, 70_000 + ERASE_PULSES, ERASE_LOOP + 40_000),
        (TIMEOUT, 70_000 + ERASE_PULSES, ERASE_LOOP),
        // The longest phase is the pulse.
        (Scheme::InterPhase, 70_000 + ERASE_PULSES, 1_040_000),
    ] {
        let found = (length(scheme, Erases::Finish), length(scheme, Erases::Stop));
        assert_eq!(found, (finish, stop), "{}", scheme.name());
    }
}
