//! Tests of the current trace of a suspended program against its phases.

use crate::common::*;
use interpulse_engine::{Current, SimTime};
use interpulse_flash::die::DiePhase;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::parts::power::Draw;
use interpulse_flash::phases;
use interpulse_flash::power::{self, Step};
use interpulse_flash::script::{self, Script};
use interpulse_flash::suspend::Scheme;

/// A part with distinct currents.
fn distinct() -> interpulse_flash::parts::PartSpec {
    let mut part = part();
    for (k, current) in part.power.currents.iter_mut().enumerate() {
        *current = Current(1_000 + 37 * k as u64);
    }
    part
}

/// A program with one read in its second pulse, which stops it at the end of the loop.
fn suspended() -> (Vec<Step>, Vec<phases::Phase>) {
    let part = distinct();
    let config = suspending(Scheme::LoopBoundary, &part);
    let script = Script {
        arrivals: vec![(SimTime(0), Kind::HostProgram), (SimTime(PULSES_AT + LOOP + 10_000), Kind::HostRead)],
        planes: 1,
        horizon: SimTime(2_000_000),
        ..Script::default()
    };
    let phases = phases::split(&script::play(&part, config, &script));
    (power::trace(&part, &phases), phases)
}

/// Loads, two loops, entry, a read, resume, two loops: all times and currents derived by hand.
#[test]
fn the_steps_of_a_suspended_program() {
    let (steps, _) = suspended();
    let of = |draw: Draw| 1_000 + 37 * draw as u64;
    let first = PULSES_AT;
    let halt = first + 2 * LOOP;
    let (entered, commanded) = (halt + 20_000, halt + 20_000 + CMD);
    let sensed = commanded + LSB;
    let moved = sensed + UNITS[1];
    let again = moved + 10_000;
    let expected = [
        // The first page load includes the command.
        (0, Draw::Load),
        (first, Draw::ProgramPulse),
        (first + 35_000, Draw::ProgramVerify),
        (first + LOOP, Draw::ProgramPulse),
        (first + LOOP + 35_000, Draw::ProgramVerify),
        (halt, Draw::Entry),
        (entered, Draw::Idle),
        (commanded, Draw::Sense0),
        (sensed, Draw::Out),
        (moved, Draw::Resume),
        (again, Draw::ProgramPulse),
        (again + 35_000, Draw::ProgramVerify),
        (again + LOOP, Draw::ProgramPulse),
        (again + LOOP + 35_000, Draw::ProgramVerify),
        (again + 2 * LOOP, Draw::Standby),
    ];
    let seen: Vec<(u64, u64)> = steps.iter().map(|step| (step.at.as_ns(), step.current.as_ua())).collect();
    assert_eq!(seen, expected.map(|(at, draw)| (at, of(draw))));
}

#[test]
fn the_charge_of_the_trace_is_the_sum_over_its_phases() {
    let (steps, phases) = suspended();
    let area: u128 = steps.windows(2).map(|w| w[0].current.charge(w[1].at.since(w[0].at))).sum();
    let pulses: u64 =
        phases.iter().filter(|p| p.what == DiePhase::Pulse).map(|p| p.to.since(p.from).as_ns()).sum();
    assert_eq!(pulses, 4 * 35_000);
    let of = |draw: Draw| 1_000 + 37 * draw as u128;
    let [cmd, load, lsb, out] = [CMD, LOAD, LSB, UNITS[1]].map(u128::from);
    let by_hand = of(Draw::Load) * (cmd + 3 * load)
        + of(Draw::ProgramPulse) * 140_000
        + of(Draw::ProgramVerify) * 360_000
        + of(Draw::Entry) * 20_000
        + of(Draw::Idle) * cmd
        + of(Draw::Sense0) * lsb
        + of(Draw::Out) * out
        + of(Draw::Resume) * 10_000;
    assert_eq!(area, by_hand);
}
