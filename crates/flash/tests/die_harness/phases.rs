//! Stops and repeated work of the schemes that distinguish pulses from verifies.
//!
//! One program is submitted at 0; its pulses start at 57258: loop k has its pulse in 57258 + k * 125000 +
//! [0, 35000) and its verify in [35000, 125000). A read has the die for 54797; its outcome comes 5000 later.
//! Entering costs 20000, leaving 10000, a voltage reset 4000.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::suspend::Scheme;

const ENTRY: u64 = 20_000;
const RESUME: u64 = 10_000;
const RESET: u64 = 4_000;

fn of(scheme: Scheme) -> NandConfig {
    let mut config = suspending(scheme, &part());
    config.program_suspend.costs.entry = Duration::from_ns(ENTRY);
    config.program_suspend.costs.resume = Duration::from_ns(RESUME);
    config.program_suspend.costs.reset = Duration::from_ns(RESET);
    config
}

/// The end of a read that comes at `at`, the end of the program, suspensions, and time done again.
fn run(scheme: Scheme, at: u64) -> (u64, u64, u64, u64) {
    let mut bench = Bench::new(&part(), of(scheme), 1);
    bench.at(0, program(0)).at(at, read(0)).run();
    let ends = bench.ends();
    let counters = bench.nand.counters;
    (ends[1], ends[0], counters.program_suspends, counters.program_redone_time)
}

#[test]
fn inter_phase_stops_after_the_pulse_or_the_verify() {
    // (read, where the pulses stop): at the interval between two phases at once, inside one at its end.
    let cases = [
        (PULSES_AT, PULSES_AT),
        (PULSES_AT + 1, PULSES_AT + 35_000),
        (PULSES_AT + 34_999, PULSES_AT + 35_000),
        (PULSES_AT + 35_000, PULSES_AT + 35_000),
        (PULSES_AT + 35_001, PULSES_AT + 125_000),
        (PULSES_AT + 124_999, PULSES_AT + 125_000),
        (PULSES_AT + 125_000, PULSES_AT + 125_000),
        (PULSES_AT + 375_001, PULSES_AT + 410_000),
    ];
    for (at, stop) in cases {
        // The read starts after the entry; the program goes on after the read and the resume, having lost nothing.
        let expected = (stop + ENTRY + READ, PROGRAM + ENTRY + READ_DIE + RESUME, 1, 0);
        assert_eq!(run(Scheme::InterPhase, at), expected, "read at {at}");
    }
    // In the last verify the next interval is the end: nothing is left to suspend.
    assert_eq!(run(Scheme::InterPhase, PROGRAM - 1), (PROGRAM + READ, PROGRAM, 0, 0));
}

#[test]
fn intra_phase_cancel_stops_at_once_and_redoes_the_phase() {
    // (read, time into the phase that is lost)
    let cases = [
        (PULSES_AT, 0),
        (PULSES_AT + 1, 1),
        (PULSES_AT + 34_999, 34_999),
        (PULSES_AT + 35_000, 0),
        (PULSES_AT + 50_000, 15_000),
        (PULSES_AT + 125_000 + 7_000, 7_000),
        (PROGRAM - 1, 89_999),
    ];
    for (at, lost) in cases {
        // The read starts after the voltage reset and the entry; the program then owes what was lost again.
        let entry = RESET + ENTRY;
        let expected = (at + entry + READ, PROGRAM + lost + entry + READ_DIE + RESUME, 1, lost);
        assert_eq!(run(Scheme::IntraPhaseCancel, at), expected, "read at {at}");
    }
}

#[test]
fn a_read_during_the_resume_waits_for_a_phase_or_cancels_it() {
    // The first read stops the pulses at 92258 (inter-phase, end of the first pulse) or at 60000 (cancel, 2742 into
    // it). Until when the resume lasts: stop + (reset +) entry 20000 + read 54797 + resume 10000.
    let resumed = PULSES_AT + 35_000 + ENTRY + READ_DIE + RESUME;
    let mut bench = Bench::new(&part(), of(Scheme::InterPhase), 1);
    bench.at(0, program(0)).at(60_000, read(0)).at(resumed - 1, read(0)).run();
    // The verify that the resume leads to is committed: it ends 90000 later.
    assert_eq!(bench.ends()[2], resumed + 90_000 + ENTRY + READ);
    assert_eq!(bench.ends()[0], PROGRAM + 2 * (ENTRY + READ_DIE + RESUME));

    let resumed = 60_000 + RESET + ENTRY + READ_DIE + RESUME;
    let mut bench = Bench::new(&part(), of(Scheme::IntraPhaseCancel), 1);
    bench.at(0, program(0)).at(60_000, read(0)).at(resumed - 1, read(0)).run();
    // Nothing is committed: the pulse is cancelled as it begins, and nothing is lost but the costs.
    assert_eq!(bench.ends()[2], resumed + RESET + ENTRY + READ);
    assert_eq!(bench.ends()[0], PROGRAM + 2_742 + 2 * (RESET + ENTRY + READ_DIE + RESUME));
}
