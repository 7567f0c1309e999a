//! Programs and erases, step by step.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::die::State;
use interpulse_flash::ids::BlockId;
use interpulse_flash::parts::{PartSpec, ProgramMode};
use interpulse_flash::pulse::PhaseKind;

#[test]
fn a_one_shot_program_is_three_loads_and_then_loops() {
    // 300 + 3 * (17986 + 1000) + 4 * 125000
    assert_eq!(PROGRAM, 557_258);
    let bench = check("one-shot", Bench::new(&part(), config(), 1), &[(0, program(0))], &[PROGRAM]);
    // The bus is free during the set-ups: 300 + 3 * 17986.
    assert_eq!(bench.nand.counters.bus_time, 54_258);
    // Four planes: four commands, then twelve loads.
    let wide = but(program(0), |t| t.planes = 4);
    let ends = [1_200 + 12 * LOAD + PULSES];
    let bench = check("four planes", Bench::new(&part(), config(), 1), &[(0, wide)], &ends);
    assert_eq!(bench.nand.counters.bus_time, 1_200 + 12 * 17_986);
}

/// A page load takes what the part says instead of what its bus makes of it; a read moves as before.
#[test]
fn a_page_load_of_its_own_time() {
    let part = PartSpec { page_load: Some(Duration::from_ns(12)), ..part() };
    let wide = but(program(0), |t| t.planes = 4);
    let program_end = 1_200 + 12 * (12 + 1_000) + PULSES;
    let ends = [program_end, program_end + READ];
    let bench = check("own loads", Bench::new(&part, config(), 1), &[(0, wide), (1, read(0))], &ends);
    assert_eq!(bench.nand.counters.bus_time, 1_200 + 12 * 12 + 300 + 4_497);
}

/// What the die does at each step of a program.
#[test]
fn the_steps_of_a_program() {
    let mut bench = Bench::new(&part(), config(), 1);
    bench.at(0, program(0));
    for (at, state) in [
        (0, State::Load),
        (300 + LOAD, State::Load),
        (300 + 2 * LOAD, State::Load),
        (PULSES_AT - 1, State::Load),
        (PULSES_AT, State::Pulsing),
        (PROGRAM - 1, State::Pulsing),
        (PROGRAM, State::Idle),
    ] {
        bench.run_until(at);
        assert_eq!(bench.nand.dies()[0].state(), state, "at {at}");
    }
}

#[test]
fn progress_names_loop_and_phase() {
    let mut bench = Bench::new(&part(), config(), 1);
    bench.at(0, program(0)).run_until(PULSES_AT);
    let die = &bench.nand.dies()[0];
    for (after, loop_number, kind, into) in [
        (0, 0, PhaseKind::Pulse, 0),
        (34_999, 0, PhaseKind::Pulse, 34_999),
        (35_000, 0, PhaseKind::Verify, 0),
        (124_999, 0, PhaseKind::Verify, 89_999),
        (125_000, 1, PhaseKind::Pulse, 0),
        (PULSES - 1, 3, PhaseKind::Verify, 89_999),
    ] {
        let (elapsed, ahead) = die.progress(SimTime(PULSES_AT + after));
        assert_eq!((elapsed.as_ns(), ahead.as_ns()), (after, 0));
        let train = die.long().unwrap().train;
        let phase = train.phase_at(elapsed);
        let (n, spent) = (elapsed.as_ns() / train.loop_time().as_ns(), elapsed - phase.start);
        assert_eq!((n, phase.kind, spent.as_ns()), (loop_number, kind, into), "{after} ns into the pulses");
    }
}

#[test]
fn a_page_mode_program_loads_one_page() {
    let mlc = PartSpec {
        bits_per_cell: 2,
        program_mode: ProgramMode::Page,
        read: part().read[..2].to_vec(),
        ..part()
    };
    // 300 + 17986 + 1000 + 500000 each; both pages of word line 0, then a read of the second.
    let page = |page| but(program(0), |t| (t.block, t.page) = (BlockId(4), page));
    let arrivals = [(0, page(0)), (0, page(1)), (0, read_of(0, 0, 4, 1, 1))];
    let ends = [519_286, 1_038_572, 1_038_572 + 300 + CSB + 4_497 + 5_000];
    check("page mode", Bench::new(&mlc, config(), 1), &arrivals, &ends);
}

#[test]
fn an_erase_is_a_command_and_loops() {
    check("erase", Bench::new(&part(), config(), 1), &[(0, erase(0))], &[3_300_300]);
    let wide = but(erase(0), |t| t.planes = 4);
    check("four planes", Bench::new(&part(), config(), 1), &[(0, wide)], &[3_301_200]);
}

#[test]
fn an_erased_block_takes_programs_from_its_first_page_again() {
    let word_line = |page| but(program(0), |t| (t.block, t.page, t.planes) = (BlockId(7), page, 2));
    let both = but(erase(0), |t| t.planes = 2);
    // Two planes: two commands and six loads a program, two commands an erase.
    let (one, erased) = (600 + 6 * LOAD + PULSES, 600 + ERASE_PULSES);
    let arrivals = [(0, word_line(0)), (0, word_line(3)), (0, both), (0, word_line(0))];
    let ends = [one, 2 * one, 2 * one + erased, 3 * one + erased];
    let bench = check("reuse", Bench::new(&part(), config(), 1), &arrivals, &ends);
    let blocks = bench.nand.dies()[0].blocks();
    assert_eq!([0, 1, 2].map(|plane| blocks.programmed(plane, BlockId(7))), [3, 3, 0]);
}
