//! Second read after a stop at 70000, 12742 into the first pulse: its wait and cost, and the cost of a ramp.
//!
//! Entering takes 20000 (and 4000 more if the phase was cancelled), a read 54797, leaving 10000. Alone the program
//! ends at 557258.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::{NandConfig, NandCounters};
use interpulse_flash::suspend::Scheme;

const RAMP: u64 = 7_000;

fn stopping(scheme: Scheme, ramp: u64) -> NandConfig {
    // `timeout` is still patient.
    let mut config = suspending(after(scheme, Duration::from_ms(1_000)), &part());
    config.program_suspend.costs.reset = Duration::from_us(4);
    config.program_suspend.resume_ramp = Duration::from_ns(ramp);
    config
}

/// Reads at 70000 and at `second`: when the second may start, when the program ends.
fn run(scheme: Scheme, ramp: u64, second: u64) -> (u64, u64, NandCounters) {
    let mut bench = Bench::new(&part(), stopping(scheme, ramp), 1);
    bench.at(0, program(0)).at(70_000, read(0)).at(second, read(0)).run();
    (bench.of(2).at - READ, bench.of(0).at, bench.nand.counters)
}

/// A read in the entry or during the first read is served right after it; one in the resume stops the program once
/// more, when the scheme lets it.
#[test]
fn in_the_entry_in_a_read_in_the_resume() {
    // (scheme; in the entry, in the read, both served when the program ends; in the resume, served, program ends)
    let cases = [
        // Halted 70000, read until 124797: there is no entry; 557258 + 2 * 54797 = 666852.
        (Scheme::Ideal, [70_001, 100_000], (124_797, 666_852), None),
        // Halted 92258, entered 112258, read until 167055, resumed 177055, the verify that it resumes into ends
        // 267055, entered 287055. 557258 + 30000 + 2 * 54797 = 696852; 557258 + 2 * 84797 = 726852.
        (
            Scheme::InterPhase,
            [100_000, 150_000],
            (167_055, 696_852),
            Some(([170_000, 177_054], 287_055, 726_852)),
        ),
        // Halted 70000, entered 94000, read until 148797, resumed 158797, cancelled at once, entered 182797.
        // 557258 + 34000 + 2 * 54797 + 12742 = 713594; with 2 * 88797: 747594.
        (
            Scheme::IntraPhaseCancel,
            [80_000, 120_000],
            (148_797, 713_594),
            Some(([150_000, 158_796], 182_797, 747_594)),
        ),
        // The same, and nothing lost.
        (
            Scheme::PulseRemainder,
            [80_000, 120_000],
            (148_797, 700_852),
            Some(([150_000, 158_796], 182_797, 734_852)),
        ),
        // Halted 70000, entered 90000, read until 144797, resumed 154797, stopped at once, entered 174797.
        (Scheme::Exact, [80_000, 120_000], (144_797, 696_852), Some(([150_000, 154_796], 174_797, 726_852))),
        // The same, with 12742 lost.
        (
            Scheme::Immediate,
            [80_000, 120_000],
            (144_797, 709_594),
            Some(([150_000, 154_796], 174_797, 739_594)),
        ),
        (TIMEOUT, [80_000, 120_000], (144_797, 709_594), Some(([150_000, 154_796], 174_797, 739_594))),
        // Halted 182258, read until 237055, resumed 247055, the next loop ends 372055: 20000 less at each stop than
        // with the entry.
        (DEFERRED, [190_000, 230_000], (237_055, 676_852), Some(([240_000, 247_054], 372_055, 686_852))),
        // Halted 182258, entered 202258, read until 257055, resumed 267055, the next loop ends 392055, entered
        // 412055.
        (
            DEFERRED_AT_A_COST,
            [190_000, 230_000],
            (257_055, 696_852),
            Some(([260_000, 267_054], 412_055, 726_852)),
        ),
        (
            Scheme::LoopBoundary,
            [190_000, 230_000],
            (257_055, 696_852),
            Some(([260_000, 267_054], 412_055, 726_852)),
        ),
    ];
    for (scheme, within, served, again) in cases {
        for second in within {
            let (starts, ends, c) = run(scheme, 0, second);
            let what = format!("{}: second read at {second}", scheme.name());
            assert_eq!(((starts, ends), c.program_suspends), (served, 1), "{what}");
        }
        let Some((in_resume, starts_again, ends_again)) = again else { continue };
        for second in in_resume {
            let (starts, ends, c) = run(scheme, 0, second);
            let what = format!("{}: second read at {second}", scheme.name());
            assert_eq!((starts, ends, c.program_suspends), (starts_again, ends_again, 2), "{what}");
        }
    }
}

/// Only a pulse that is resumed midway has a ramp, and a read may cut it short.
#[test]
fn a_ramp() {
    // Both resumed in the pulse they were stopped in; the second read comes 3203 or 1203 into the ramp and starts
    // after the entry; the second ramp is whole.
    // exact: resumed 154797, halted 158000, entered 178000; 557258 + 2 * 84797 + 3203 + 7000 = 737055.
    let (starts, ends, c) = run(Scheme::Exact, RAMP, 158_000);
    assert_eq!((starts, ends, c.program_suspends, c.ramp_time), (178_000, 737_055, 2, 10_203));
    // pulse-remainder: resumed 158797, halted 160000, entered 184000; 557258 + 2 * 88797 + 1203 + 7000 = 743055.
    let (starts, ends, c) = run(Scheme::PulseRemainder, RAMP, 160_000);
    assert_eq!((starts, ends, c.program_suspends, c.ramp_time), (184_000, 743_055, 2, 8_203));
    // The ramp over by a nanosecond: resumed 154797, ramp until 161797, halted 161798; the second ramp is as long,
    // and a nanosecond of pulse was applied in between: 557258 + 2 * 84797 + 2 * 7000 = 740852.
    let (starts, ends, c) = run(Scheme::Exact, RAMP, 161_798);
    assert_eq!((starts, ends, c.program_suspends, c.ramp_time), (181_798, 740_852, 2, 14_000));
    assert_eq!((c.program_pulse_time, c.program_owed_time), (PULSES + 14_000, PULSES));
    // These resume at the beginning of a pulse or of a verify.
    for scheme in [
        Scheme::InterPhase,
        Scheme::IntraPhaseCancel,
        Scheme::Immediate,
        DEFERRED,
        TIMEOUT,
        Scheme::LoopBoundary,
    ] {
        let (_, with, c) = run(scheme, RAMP, 230_000);
        assert_eq!((with, c.ramp_time), (run(scheme, 0, 230_000).1, 0), "{}", scheme.name());
    }
    // The bound pays nothing, whatever the part costs.
    let (starts, ends, c) = run(Scheme::Ideal, RAMP, 128_000);
    assert_eq!((starts, ends, c.program_suspends, c.ramp_time), (128_000, 666_852, 2, 0));
}

/// A verify that is resumed midway has no ramp: its voltage is not a pulse's.
#[test]
fn a_verify_has_no_ramp() {
    // Stopped 27742 into the verify, 642055 as ever.
    let mut bench = Bench::new(&part(), stopping(Scheme::Exact, RAMP), 1);
    bench.at(0, program(0)).at(120_000, read(0)).run();
    assert_eq!((bench.of(0).at, bench.nand.counters.ramp_time), (642_055, 0));
}
