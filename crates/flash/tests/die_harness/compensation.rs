//! Worked instants of compensated resumes, derived by hand: loops of 125000 from 57258, entry 20000, a read of 54797, resume 10000.

use crate::common::*;
use crate::die_harness::arrivals::{resetting, stopping};
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::suspend::{Compensation, Scheme, Sliced};

/// One step for each suspension of more than 2 us, hence a loop whatever the program has to spare.
const WHOLE: Compensation = Compensation { per_e_fold: 1.0, after: Duration::from_us(1) };

fn compensated(scheme: Scheme) -> NandConfig {
    let mut config = stopping(scheme, false);
    config.program_suspend.compensation = WHOLE;
    config
}

/// Ends of the program, loops that it got, time that it needed.
fn run(config: &NandConfig, reads: &[u64]) -> (u64, u64, u64) {
    let mut bench = Bench::new(&resetting(), config.clone(), 1);
    bench.at(0, program(0));
    for &at in reads {
        bench.at(at, read(0));
    }
    bench.run();
    let c = bench.nand.counters;
    assert_eq!(c.program_pulse_time, c.program_owed_time);
    (bench.of(0).at, c.compensated_loops, c.program_owed_time)
}

/// Halt at 182258, pulses again at 182258 + 20000 + 54797 + 10000 = 267055, four loops left instead of three: 767055. The second
/// read halts it at 392055; pulses again at 476852, four loops left: 976852.
#[test]
fn every_suspension_adds_a_loop() {
    let config = compensated(Scheme::LoopBoundary);
    assert_eq!(run(&config, &[]), (557_258, 0, 4 * LOOP));
    assert_eq!(run(&config, &[70_000]), (767_055, 1, 5 * LOOP));
    assert_eq!(run(&config, &[70_000, 300_000]), (976_852, 2, 6 * LOOP));
}

/// Stopped before its first loop, the voltage is that of the first loop already: 642055, as without compensation.
#[test]
fn the_voltage_does_not_fall_below_the_first() {
    assert_eq!(run(&compensated(Scheme::LoopBoundary), &[100]), (642_055, 0, 4 * LOOP));
}

/// A slice of one loop ends at 182258; the next begins at 182258 + 54797 + 7000 = 244055. Four loops and three commands: 765055.
/// The commands between slices are no suspensions.
#[test]
fn slices_without_a_suspension_are_not_compensated() {
    let config = compensated(Scheme::Sliced(Sliced { overhead: Duration::from_us(7), ..Sliced::DEFAULT }));
    assert_eq!(run(&config, &[]), (578_258, 0, 4 * LOOP));
    assert_eq!(run(&config, &[70_000]), (765_055, 1, 5 * LOOP));
}
