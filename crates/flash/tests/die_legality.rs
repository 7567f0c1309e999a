//! Illegal operations are refused with the history of the die.
//!
//! Such a panic is a bug of the layer above. Each case names what it does and what the die says; the die's last
//! steps follow the message.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::command::{DieActivity, Effect, Kind};
use interpulse_flash::die::{Die, State};
use interpulse_flash::geometry::Planes;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, ProgramMode};
use interpulse_flash::pulse::PulseTrain;
use interpulse_flash::suspend::{Scheme, Stop};
use std::panic::{AssertUnwindSafe, catch_unwind};

const PLANE: Planes = Planes { first: 0, count: 1 };

/// The message that `action` panics with.
#[track_caller]
fn refusal(name: &str, action: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(action)).expect_err(name);
    let fixed = payload.downcast_ref::<&str>().map(ToString::to_string);
    payload.downcast_ref::<String>().cloned().or(fixed).expect("the message is text")
}

/// The arrivals end in a refusal that says `says` and shows what the die did before.
#[track_caller]
fn refused(name: &str, mut bench: Bench, arrivals: &[(u64, Txn)], says: &str) -> String {
    for &(at, txn) in arrivals {
        bench.at(at, txn);
    }
    let message = refusal(name, || {
        bench.run();
    });
    assert!(message.starts_with("illegal die operation at "), "{name}: {message}");
    assert!(message.contains(says), "{name}: {message}");
    assert!(message.contains("\nhistory of the die:\n"), "{name}: {message}");
    message
}

fn idle() -> Bench {
    Bench::new(&part(), config(), 1)
}

fn ideal() -> Bench {
    Bench::new(&part(), suspending(Scheme::Ideal, &part()), 1)
}

/// A program of one word line of one plane of block `block`.
fn word_line(block: u32, page: u32) -> Txn {
    but(program(0), |t| (t.block, t.page) = (BlockId(block), page))
}

fn page(block: u32, page: u32) -> Txn {
    read_of(0, 0, block, page, 1)
}

#[test]
fn pages_are_programmed_in_order_after_an_erase() {
    refused(
        "a word line left out",
        idle(),
        &[(0, word_line(4, 3))],
        "program of page 3 of block 4, plane 0, whose next page is 0",
    );
    refused(
        "twice the same word line",
        idle(),
        &[(0, word_line(4, 0)), (0, word_line(4, 0))],
        "program of page 0 of block 4, plane 0, whose next page is 3",
    );
    refused(
        "not erased",
        idle(),
        &[(0, word_line(0, 0))],
        "program of page 0 of block 0, plane 0, whose next page is 24",
    );
    refused(
        "beyond the block",
        idle(),
        &[(0, word_line(0, 24))],
        "program up to page 26 of block 0, which has 24 pages",
    );
    refused(
        "one of two planes is not where the other is",
        idle(),
        &[
            (0, but(word_line(4, 0), |t| t.plane = 1)),
            (0, but(word_line(4, 0), |t| (t.plane, t.planes) = (0, 2))),
        ],
        "program of page 0 of block 4, plane 1, whose next page is 3",
    );
}

#[test]
fn page_mode_programs_are_in_order_too() {
    let mlc = PartSpec {
        bits_per_cell: 2,
        program_mode: ProgramMode::Page,
        read: part().read[..2].to_vec(),
        ..part()
    };
    refused(
        "most significant page first",
        Bench::new(&mlc, config(), 1),
        &[(0, word_line(4, 1))],
        "program of page 1 of block 4, plane 0, whose next page is 0",
    );
}

#[test]
fn only_what_is_programmed_is_read() {
    refused(
        "erased block",
        idle(),
        &[(0, page(4, 0))],
        "read of page 0 of block 4, plane 0, which is erased",
    );
    refused(
        "next word line",
        idle(),
        &[(0, word_line(4, 0)), (0, page(4, 2)), (0, page(4, 3))],
        "read of page 3 of block 4, plane 0, which is erased",
    );
    refused(
        "another plane",
        idle(),
        &[(0, word_line(4, 0)), (0, read_of(0, 1, 4, 0, 1))],
        "read of page 0 of block 4, plane 1, which is erased",
    );
    refused(
        "after an erase",
        idle(),
        &[(0, but(erase(0), |t| t.block = BlockId(0))), (0, page(0, 0))],
        "read of page 0 of block 0, plane 0, which is erased",
    );
}

/// A suspended program has not stored its pages yet; what lies before them can be read.
#[test]
fn a_page_is_read_from_the_page_buffer_while_it_is_programmed() {
    let arrivals = [(0, word_line(4, 0)), (PROGRAM, word_line(4, 3)), (PROGRAM + 100_000, page(4, 2))];
    check(
        "before",
        ideal(),
        &arrivals,
        &[PROGRAM, 2 * PROGRAM + 300 + MSB + 4_497, PROGRAM + 100_000 + 84_797],
    );
    // Stopped at once; command and transfer, nothing to sense. Its neighbour on the word line after it is erased.
    let in_hand = [(0, word_line(4, 0)), (100_000, page(4, 1))];
    let bench = check("during", ideal(), &in_hand, &[PROGRAM + 4_797, 100_000 + 4_797 + DECODE]);
    assert_eq!((bench.nand.counters.page_buffer_reads, bench.nand.counters.reloads), (1, 0));
    let beyond = [(0, word_line(4, 0)), (100_000, page(4, 3))];
    refused("beyond", ideal(), &beyond, "read of page 3 of block 4, plane 0, which is erased");
}

#[test]
fn a_block_is_not_read_while_its_erase_is_suspended() {
    let two_planes = but(erase(0), |t| (t.block, t.plane, t.planes) = (BlockId(0), 1, 2));
    for plane in [1, 2] {
        refused(
            "in the erase",
            ideal(),
            &[(0, two_planes), (100_000, read_of(0, plane, 0, 5, 1))],
            "read of block 0, whose erase is suspended",
        );
    }
    // The same block of the planes beside it, and another block, may be read.
    for (plane, block) in [(0, 0), (3, 0), (1, 1), (2, 3)] {
        let mut bench = ideal();
        bench.at(0, two_planes).at(100_000, read_of(0, plane, block, 0, 1)).run();
        assert_eq!(bench.of(1).at, 100_000 + READ);
    }
}

#[test]
fn the_refusal_shows_the_steps_before_it() {
    let arrivals = [(0, word_line(4, 0)), (100_000, page(4, 3))];
    let message = refused("history", ideal(), &arrivals, "at 100000 ns");
    // Loads end at 300 + 18986 k.
    let steps = "history of the die:\n  \
        0 ns: LoadWait (block 4)\n  0 ns: Load (block 4)\n  \
        19286 ns: LoadWait (block 4)\n  19286 ns: Load (block 4)\n  \
        38272 ns: LoadWait (block 4)\n  38272 ns: Load (block 4)\n  \
        57258 ns: Pulsing (block 4)\n  100000 ns: Suspended (block 4)\n  100000 ns: Command (block 4)\n";
    assert!(message.ends_with(steps), "{message}");
}

#[test]
fn the_history_keeps_the_last_sixteen_steps() {
    let mut bench = idle();
    (0..10).for_each(|_| assert!(bench.at(0, read(0)).submitted() > 0));
    let message = refused("long history", bench, &[(1, page(4, 0))], "at 547970 ns");
    let steps = message.split_once("history of the die:\n").unwrap().1;
    assert_eq!(steps.lines().count(), 16);
    assert_eq!(steps.lines().last(), Some("  547970 ns: Command (block 4)"));
}

#[test]
fn an_address_beyond_the_die_is_not_another_block() {
    let says = |txn: Txn| {
        refusal("address", || {
            idle().at(0, txn).run();
        })
    };
    assert_eq!(says(page(8, 0)), "block 8 of 8");
    assert_eq!(says(word_line(8, 0)), "block 8 of 8");
    assert!(says(read_of(0, 4, 7, 0, 1)).contains("out of bounds"));
}

// ---- the die itself -------------------------------------------------------------------------------------

const TRAIN: PulseTrain = PulseTrain::even(4, Duration::from_us(35), Duration::ZERO, Duration::from_us(90));

fn die() -> Die {
    Die::new(1, 8, 24, 3)
}

/// A die whose program has started its pulses at `PULSES_AT`.
fn pulsing() -> Die {
    let (now, mut die) = (SimTime(PULSES_AT), die());
    die.begin_long(SimTime(0), Kind::HostProgram, TRAIN, None, PLANE);
    die.go(SimTime(0), State::LoadWait, DieActivity::BusProgram, BlockId(0));
    die.go(SimTime(0), State::Load, DieActivity::BusProgram, BlockId(0));
    assert_eq!(die.start_pulses(now, now, Duration::ZERO), SimTime(PROGRAM));
    die
}

#[test]
fn steps_follow_each_other_as_they_must() {
    let illegal = |mut die: Die, to: State, says: &str| {
        let message = refusal(says, || die.go(SimTime(PROGRAM), to, DieActivity::Idle, BlockId(0)));
        assert!(message.contains(says), "{message}");
    };
    illegal(die(), State::Sensing, "Sensing cannot follow Idle");
    illegal(die(), State::Pulsing, "Pulsing cannot follow Idle");
    illegal(die(), State::Resuming, "Resuming cannot follow Idle");
    illegal(pulsing(), State::Command, "Command cannot follow Pulsing");
    illegal(pulsing(), State::Resuming, "Resuming cannot follow Pulsing");
    illegal(pulsing(), State::LoadWait, "LoadWait cannot follow Pulsing");
}

#[test]
fn a_die_has_one_long_operation() {
    for kind in Kind::ALL
        .into_iter()
        .filter(|kind| matches!(kind.command().effect, Effect::Programs | Effect::Erases))
    {
        let message =
            refusal("two", || pulsing().begin_long(SimTime(PROGRAM), kind, TRAIN, Some(BlockId(1)), PLANE));
        assert!(message.contains(&format!("{kind:?} while another operation is on the die")), "{message}");
    }
}

/// A new scheme cannot corrupt state: 200 us into the pulses of 500 us.
#[test]
fn a_stop_keeps_no_more_than_was_done_and_ends_before_the_train() {
    let stop = |after_us: u64, keeps_us: u64| Stop {
        after: Duration::from_us(after_us),
        keeps: Duration::from_us(keeps_us),
        entry: Duration::ZERO,
        resume: Duration::ZERO,
    };
    let now = SimTime(PULSES_AT + 200_000);
    for (after, keeps) in [(0, 201), (50, 251), (300, 500), (400, 0)] {
        let message = refusal("stop", || {
            pulsing().accept_stop(now, stop(after, keeps));
        });
        let says =
            format!("stop after {} that keeps {}, ", stop(after, keeps).after, stop(after, keeps).keeps);
        assert!(message.contains(&(says + "200us into pulses up to 500us")), "{message}");
        assert!(message.contains("history of the die"), "{message}");
    }
    for (after, keeps) in [(0, 200), (0, 0), (50, 250), (299, 499)] {
        assert_eq!(pulsing().accept_stop(now, stop(after, keeps)), now + Duration::from_us(after));
    }
}

#[test]
fn blocks_are_set_from_outside_on_an_idle_die_only() {
    let message = refusal("busy", || {
        pulsing().blocks_mut();
    });
    assert_eq!(message, "a block's content is set from outside on an idle die only");
}
