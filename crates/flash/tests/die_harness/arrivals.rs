//! One read against one program or erase, for every scheme and every phase of arrival: start of the read, end of the
//! operation, cost of the stop.
//!
//! The program is submitted at 0. Its loops of a pulse of 35000 and a verify of 90000 begin at 57258, 182258,
//! 307258 and 432258; alone it ends at 557258. Entering costs 20000, leaving 10000, a cancellation 4000 more. The
//! erase is submitted at 0 too; its loops of a pulse of 1000000, a voltage reset of 50000 and a verify of 100000
//! begin at 300, 1150300 and 2300300; alone it ends at 3450300. Entering costs 40000, leaving 30000, a
//! cancellation 4000 more. The read has the die for 54797, and nothing else waits. So an operation that is stopped
//! ends later than alone by entry + 54797 + resume + what is done again.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, TrainSpec};
use interpulse_flash::suspend::{
    Adaptive, Deferred, SafePointEntry, SafePoints, Scheme, Sliced, SuspendCosts, Timeout,
};

/// When the read arrives, when it may start, when the operation ends; then the time from asking to the halt, that
/// of the entry, of the resume, and what is done again.
pub type Row = (u64, u64, u64, [u64; 4]);

/// The bench's part with a voltage reset between the pulses and verifies of its erases.
pub fn resetting() -> PartSpec {
    let us = Duration::from_us;
    PartSpec { erase: TrainSpec::even(3, us(1_000), us(50), us(100)), ..part() }
}

/// `scheme` for both kinds; `timeout` defers at once or, with `patient`, not within these tests.
pub fn stopping(scheme: Scheme, patient: bool) -> NandConfig {
    let us = Duration::from_us;
    let patience = if patient { Duration::from_ms(1_000) } else { Duration::ZERO };
    let mut config = suspending(after(scheme, patience), &resetting());
    config.program_suspend.costs = SuspendCosts { entry: us(20), resume: us(10), reset: us(4) };
    config.erase_suspend.costs = SuspendCosts { entry: us(40), resume: us(30), reset: us(4) };
    config
}

#[track_caller]
pub fn check_rows(scheme: Scheme, patient: bool, long: Txn, rows: &[Row]) {
    for &(at, starts, ends, costs) in rows {
        let mut bench = Bench::new(&resetting(), stopping(scheme, patient), 1);
        bench.at(0, long).at(at, read(0)).run();
        let c = bench.nand.counters;
        let what = format!("{}: read at {at}", scheme.name());
        assert_eq!((bench.of(1).at - READ, bench.of(0).at), (starts, ends), "{what}");
        let redone = c.program_redone_time + c.erase_redone_time;
        assert_eq!([c.stop_time, c.entry_time, c.resume_time, redone], costs, "{what}");
        // The pulses applied are those owed and those done again, and no ramp was configured.
        let (applied, owed) =
            (c.program_pulse_time + c.erase_pulse_time, c.program_owed_time + c.erase_owed_time);
        assert_eq!((applied, c.ramp_time), (owed + redone, 0), "{what}");
        // What the suspension took of the operation's time is all that is not pulses: entry, read, resume.
        let (suspends, suspended) =
            (c.program_suspends + c.erase_suspends, c.program_suspended_time + c.erase_suspended_time);
        let expected = if suspends == 1 { costs[1] + READ_DIE + costs[2] } else { 0 };
        assert_eq!(suspended, expected, "{what}");
    }
}

/// The instants at which the read of the program's tables arrives: in the first page load; as the first pulse
/// starts; in it; between it and its verify; in the verify; at the loop's end; in the last loop's pulse; a
/// nanosecond before the end; at the end.
pub const IN_PROGRAM: [u64; 9] = [100, 57_258, 70_000, 92_258, 150_000, 182_258, 440_000, 557_257, 557_258];

/// Those of the erase: in its command; as the first pulse starts; in it; between it and the voltage reset; in the
/// reset; between it and the verify; in the verify; at the loop's end; in the last loop's pulse; a nanosecond
/// before the end; at the end.
pub const IN_ERASE: [u64; 11] = [
    100, 300, 600_300, 1_000_300, 1_020_300, 1_050_300, 1_100_300, 1_150_300, 2_500_300, 3_450_299, 3_450_300,
];

pub fn rows<const N: usize>(at: [u64; N], rest: [(u64, u64, [u64; 4]); N]) -> Vec<Row> {
    at.iter().zip(rest).map(|(&at, (starts, ends, costs))| (at, starts, ends, costs)).collect()
}

pub const NO_COST: [u64; 4] = [0; 4];

#[test]
fn none() {
    check_rows(Scheme::None, false, program(0), &rows(IN_PROGRAM, [(557_258, 557_258, NO_COST); 9]));
    check_rows(Scheme::None, false, erase(0), &rows(IN_ERASE, [(3_450_300, 3_450_300, NO_COST); 11]));
}

#[test]
fn ideal() {
    // At once; a load and a command run to their end first (of the command the die reports 200 as the stop's). The
    // operation loses the 54797 of the read: 612055 and 3505097.
    let of_program =
        IN_PROGRAM.map(|at| (at.max(57_258), if at < 557_258 { 612_055 } else { 557_258 }, NO_COST));
    check_rows(Scheme::Ideal, false, program(0), &rows(IN_PROGRAM, of_program));
    let of_erase = IN_ERASE.map(|at| {
        let ends = if at < 3_450_300 { 3_505_097 } else { 3_450_300 };
        (at.max(300), ends, [300u64.saturating_sub(at), 0, 0, 0])
    });
    check_rows(Scheme::Ideal, false, erase(0), &rows(IN_ERASE, of_erase));
}

#[test]
fn inter_phase() {
    // Halts at the end of the phase: 57258 (not begun), 57258, 92258, 92258, 182258, 182258, 467258. Starts 20000
    // later; nothing is done again: 557258 + 20000 + 54797 + 10000 = 642055. The last verify runs to the end.
    let stops = |wait| [wait, 20_000, 10_000, 0];
    let of_program = [
        (77_258, 642_055, stops(0)),
        (77_258, 642_055, stops(0)),
        (112_258, 642_055, stops(22_258)),
        (112_258, 642_055, stops(0)),
        (202_258, 642_055, stops(32_258)),
        (202_258, 642_055, stops(0)),
        (487_258, 642_055, stops(27_258)),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
    ];
    check_rows(Scheme::InterPhase, false, program(0), &rows(IN_PROGRAM, of_program));
    // 3450300 + 40000 + 54797 + 30000 = 3575097. The reset is a phase of its own, the last pulse ends at 3300300.
    let stops = |wait| [wait, 40_000, 30_000, 0];
    let of_erase = [
        (40_300, 3_575_097, stops(200)),
        (40_300, 3_575_097, stops(0)),
        (1_040_300, 3_575_097, stops(400_000)),
        (1_040_300, 3_575_097, stops(0)),
        (1_090_300, 3_575_097, stops(30_000)),
        (1_090_300, 3_575_097, stops(0)),
        (1_190_300, 3_575_097, stops(50_000)),
        (1_190_300, 3_575_097, stops(0)),
        (3_340_300, 3_575_097, stops(800_000)),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
    ];
    check_rows(Scheme::InterPhase, false, erase(0), &rows(IN_ERASE, of_erase));
}

#[test]
fn intra_phase_cancel() {
    // Halts at once, enters in 24000, loses what the phase had done: 70000 - 57258 = 12742 of a pulse, 150000 -
    // 92258 = 57742 of a verify, 440000 - 432258 = 7742, 557257 - 467258 = 89999. Ends at 557258 + 24000 + 54797 +
    // 10000 = 646055 and what was lost.
    let lost = |lost| [0, 24_000, 10_000, lost];
    let of_program = [
        (81_258, 646_055, lost(0)),
        (81_258, 646_055, lost(0)),
        (94_000, 658_797, lost(12_742)),
        (116_258, 646_055, lost(0)),
        (174_000, 703_797, lost(57_742)),
        (206_258, 646_055, lost(0)),
        (464_000, 653_797, lost(7_742)),
        (581_257, 736_054, lost(89_999)),
        (557_258, 557_258, NO_COST),
    ];
    check_rows(Scheme::IntraPhaseCancel, false, program(0), &rows(IN_PROGRAM, of_program));
    // 3450300 + 44000 + 54797 + 30000 = 3579097, and what was lost. A reset, from 1000300 to 1050300, is awaited:
    // it is what a cancellation would do, so the entry is 40000 and the end 3575097.
    let lost = |lost| [0, 44_000, 30_000, lost];
    let of_erase = [
        (44_300, 3_579_097, [200, 44_000, 30_000, 0]),
        (44_300, 3_579_097, lost(0)),
        (644_300, 4_179_097, lost(600_000)),
        (1_090_300, 3_575_097, [50_000, 40_000, 30_000, 0]),
        (1_090_300, 3_575_097, [30_000, 40_000, 30_000, 0]),
        (1_094_300, 3_579_097, lost(0)),
        (1_144_300, 3_629_097, lost(50_000)),
        (1_194_300, 3_579_097, lost(0)),
        (2_544_300, 3_779_097, lost(200_000)),
        (3_494_299, 3_679_096, lost(99_999)),
        (3_450_300, 3_450_300, NO_COST),
    ];
    check_rows(Scheme::IntraPhaseCancel, false, erase(0), &rows(IN_ERASE, of_erase));
}

#[test]
fn pulse_remainder() {
    // As intra-phase-cancel, but of a pulse nothing is lost.
    let lost = |lost| [0, 24_000, 10_000, lost];
    let of_program = [
        (81_258, 646_055, lost(0)),
        (81_258, 646_055, lost(0)),
        (94_000, 646_055, lost(0)),
        (116_258, 646_055, lost(0)),
        (174_000, 703_797, lost(57_742)),
        (206_258, 646_055, lost(0)),
        (464_000, 646_055, lost(0)),
        (581_257, 736_054, lost(89_999)),
        (557_258, 557_258, NO_COST),
    ];
    check_rows(Scheme::PulseRemainder, false, program(0), &rows(IN_PROGRAM, of_program));
    let lost = |lost| [0, 44_000, 30_000, lost];
    let of_erase = [
        (44_300, 3_579_097, [200, 44_000, 30_000, 0]),
        (44_300, 3_579_097, lost(0)),
        (644_300, 3_579_097, lost(0)),
        (1_090_300, 3_575_097, [50_000, 40_000, 30_000, 0]),
        (1_090_300, 3_575_097, [30_000, 40_000, 30_000, 0]),
        (1_094_300, 3_579_097, lost(0)),
        (1_144_300, 3_629_097, lost(50_000)),
        (1_194_300, 3_579_097, lost(0)),
        (2_544_300, 3_579_097, lost(0)),
        (3_494_299, 3_679_096, lost(99_999)),
        (3_450_300, 3_450_300, NO_COST),
    ];
    check_rows(Scheme::PulseRemainder, false, erase(0), &rows(IN_ERASE, of_erase));
}

#[test]
fn exact() {
    // Halts at once and loses nothing: 642055 and 3575097 wherever the read arrives.
    let of_program = IN_PROGRAM.map(|at| match at {
        557_258 => (557_258, 557_258, NO_COST),
        _ => (at.max(57_258) + 20_000, 642_055, [0, 20_000, 10_000, 0]),
    });
    check_rows(Scheme::Exact, false, program(0), &rows(IN_PROGRAM, of_program));
    let of_erase = IN_ERASE.map(|at| match at {
        3_450_300 => (3_450_300, 3_450_300, NO_COST),
        _ => (at.max(300) + 40_000, 3_575_097, [300u64.saturating_sub(at), 40_000, 30_000, 0]),
    });
    check_rows(Scheme::Exact, false, erase(0), &rows(IN_ERASE, of_erase));
}

/// `immediate`, and `timeout` while no write has starved for long enough.
#[test]
fn immediate_and_a_patient_timeout() {
    // Halts at once and loses what the loop had done: of the loop from 57258 on 12742, 35000, 92742 and at its end
    // nothing; of that from 432258 on 7742 and 124999. Ends at 642055 and what was lost.
    let lost = |lost| [0, 20_000, 10_000, lost];
    let of_program = [
        (77_258, 642_055, lost(0)),
        (77_258, 642_055, lost(0)),
        (90_000, 654_797, lost(12_742)),
        (112_258, 677_055, lost(35_000)),
        (170_000, 734_797, lost(92_742)),
        (202_258, 642_055, lost(0)),
        (460_000, 649_797, lost(7_742)),
        (577_257, 767_054, lost(124_999)),
        (557_258, 557_258, NO_COST),
    ];
    let lost = |lost| [0, 40_000, 30_000, lost];
    let of_erase = [
        (40_300, 3_575_097, [200, 40_000, 30_000, 0]),
        (40_300, 3_575_097, lost(0)),
        (640_300, 4_175_097, lost(600_000)),
        (1_040_300, 4_575_097, lost(1_000_000)),
        (1_060_300, 4_595_097, lost(1_020_000)),
        (1_090_300, 4_625_097, lost(1_050_000)),
        (1_140_300, 4_675_097, lost(1_100_000)),
        (1_190_300, 3_575_097, lost(0)),
        (2_540_300, 3_775_097, lost(200_000)),
        (3_490_299, 4_725_096, lost(1_149_999)),
        (3_450_300, 3_450_300, NO_COST),
    ];
    for scheme in [Scheme::Immediate, TIMEOUT] {
        check_rows(scheme, true, program(0), &rows(IN_PROGRAM, of_program));
        check_rows(scheme, true, erase(0), &rows(IN_ERASE, of_erase));
    }
}

/// `loop-boundary`, and `deferred` where a safe point costs what any other stop costs.
#[test]
fn at_the_end_of_the_loop() {
    // Halts at 57258 (not begun) and 182258; in the last loop there is nothing left to stop for.
    let stops = |wait| [wait, 20_000, 10_000, 0];
    let of_program = [
        (77_258, 642_055, stops(0)),
        (77_258, 642_055, stops(0)),
        (202_258, 642_055, stops(112_258)),
        (202_258, 642_055, stops(90_000)),
        (202_258, 642_055, stops(32_258)),
        (202_258, 642_055, stops(0)),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
    ];
    let stops = |wait| [wait, 40_000, 30_000, 0];
    let of_erase = [
        (40_300, 3_575_097, stops(200)),
        (40_300, 3_575_097, stops(0)),
        (1_190_300, 3_575_097, stops(550_000)),
        (1_190_300, 3_575_097, stops(150_000)),
        (1_190_300, 3_575_097, stops(130_000)),
        (1_190_300, 3_575_097, stops(100_000)),
        (1_190_300, 3_575_097, stops(50_000)),
        (1_190_300, 3_575_097, stops(0)),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
    ];
    let timeout =
        Scheme::Timeout(Timeout { then: Deferred { entry: SafePointEntry::Part }, ..Timeout::DEFAULT });
    for scheme in [DEFERRED_AT_A_COST, Scheme::LoopBoundary, timeout] {
        check_rows(scheme, false, program(0), &rows(IN_PROGRAM, of_program));
        check_rows(scheme, false, erase(0), &rows(IN_ERASE, of_erase));
    }
}

/// `deferred`, and `timeout` once a write has starved for long enough (here for no time): the loop that has ended has
/// taken its voltage off, so the read starts with the halt.
#[test]
fn at_a_safe_point() {
    // Halts at 57258 (not begun) and 182258, and the read starts there; 557258 + 54797 + 10000 = 622055.
    let stops = |wait| [wait, 0, 10_000, 0];
    let of_program = [
        (57_258, 622_055, stops(0)),
        (57_258, 622_055, stops(0)),
        (182_258, 622_055, stops(112_258)),
        (182_258, 622_055, stops(90_000)),
        (182_258, 622_055, stops(32_258)),
        (182_258, 622_055, stops(0)),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
    ];
    // 3450300 + 54797 + 30000 = 3535097.
    let stops = |wait| [wait, 0, 30_000, 0];
    let of_erase = [
        (300, 3_535_097, stops(200)),
        (300, 3_535_097, stops(0)),
        (1_150_300, 3_535_097, stops(550_000)),
        (1_150_300, 3_535_097, stops(150_000)),
        (1_150_300, 3_535_097, stops(130_000)),
        (1_150_300, 3_535_097, stops(100_000)),
        (1_150_300, 3_535_097, stops(50_000)),
        (1_150_300, 3_535_097, stops(0)),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
    ];
    for scheme in [DEFERRED, TIMEOUT] {
        check_rows(scheme, false, program(0), &rows(IN_PROGRAM, of_program));
        check_rows(scheme, false, erase(0), &rows(IN_ERASE, of_erase));
    }
}

/// The tables above are worked out by hand. Every scheme of the registry, one without a table too, is taken at its word:
/// its answer alone, and the sum at the head of this file, give when the read starts and when the operation ends.
#[test]
fn every_scheme_is_taken_at_its_word() {
    let part = resetting();
    for (name, scheme, _) in Scheme::all() {
        // The sum at the head has no time between slices.
        let scheme = match scheme {
            Scheme::Sliced(of) => Scheme::Sliced(Sliced { overhead: Duration::ZERO, ..of }),
            other => other,
        };
        let config = stopping(scheme, false);
        let program =
            (program(0), IN_PROGRAM.to_vec(), PULSES_AT, &part.program, &config.program_suspend.costs);
        let erase = (erase(0), IN_ERASE.to_vec(), CMD, &part.erase, &config.erase_suspend.costs);
        for (long, instants, pulses_at, train, costs) in [program, erase] {
            let alone = pulses_at + train_of(train).total().as_ns();
            for at in instants {
                let mut bench = Bench::new(&part, config.clone(), 1);
                bench.at(0, long).at(at, read(0)).run();
                let asked = at.max(pulses_at);
                let stop = (asked < alone)
                    .then(|| {
                        answer(
                            after(scheme, Duration::ZERO),
                            train,
                            costs,
                            Duration::from_ns(asked - pulses_at),
                        )
                    })
                    .flatten();
                let expected = stop.map_or((alone, alone), |stop| {
                    let lost = Duration::from_ns(asked - pulses_at) + stop.after - stop.keeps;
                    let longer = stop.entry + stop.resume + lost;
                    ((asked + (stop.after + stop.entry).as_ns()), alone + READ_DIE + longer.as_ns())
                });
                assert_eq!((bench.of(1).at - READ, bench.of(0).at), expected, "{name}: read at {at}");
            }
        }
    }
}

#[test]
fn safe_points() {
    // Five points: parts of 7000 of the program's pulses and of 200000 of the erase's, the last one at the loop's end. The read
    // at 70000 is 12742 into the first pulse, whose next point is 71258; that at 92258, after the pulse, waits for the loop's end.
    let scheme = Scheme::SafePoints(SafePoints { points: 5 });
    let stops = |wait| [wait, 20_000, 10_000, 0];
    let of_program = [
        (77_258, 642_055, stops(0)),
        (77_258, 642_055, stops(0)),
        (91_258, 642_055, stops(1_258)),
        (202_258, 642_055, stops(90_000)),
        (202_258, 642_055, stops(32_258)),
        (202_258, 642_055, stops(0)),
        (466_258, 642_055, stops(6_258)),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
    ];
    check_rows(scheme, false, program(0), &rows(IN_PROGRAM, of_program));
    // 600300 is a point itself; 2500300 lies on one of the third pulse, at 2300300 + 200000. In the first pulse's last part, reset
    // or verify a read waits for 1150300.
    let stops = |wait| [wait, 40_000, 30_000, 0];
    let of_erase = [
        (40_300, 3_575_097, stops(200)),
        (40_300, 3_575_097, stops(0)),
        (640_300, 3_575_097, stops(0)),
        (1_190_300, 3_575_097, stops(150_000)),
        (1_190_300, 3_575_097, stops(130_000)),
        (1_190_300, 3_575_097, stops(100_000)),
        (1_190_300, 3_575_097, stops(50_000)),
        (1_190_300, 3_575_097, stops(0)),
        (2_540_300, 3_575_097, stops(0)),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
    ];
    check_rows(scheme, false, erase(0), &rows(IN_ERASE, of_erase));
}

/// Points every 130000 of the program lie in the second, third and fourth pulse, at 130000, 260000 and 390000: at 187258, 317258
/// and 447258. No loop's end is a point.
#[test]
fn points_apart_from_the_loops() {
    let scheme = |us| Scheme::Adaptive(Adaptive { interval: Duration::from_us(us) });
    let stops = |wait| [wait, 20_000, 10_000, 0];
    let of_program = [
        (77_258, 642_055, stops(0)),
        (77_258, 642_055, stops(0)),
        (207_258, 642_055, stops(117_258)),
        (207_258, 642_055, stops(95_000)),
        (207_258, 642_055, stops(37_258)),
        (207_258, 642_055, stops(5_000)),
        (467_258, 642_055, stops(7_258)),
        (557_258, 557_258, NO_COST),
        (557_258, 557_258, NO_COST),
    ];
    check_rows(scheme(130), false, program(0), &rows(IN_PROGRAM, of_program));
    // Points every 550000 of the erase: 550000; 1100000, in the first verify, so at its end, 1150000; 1650000; 2200000, as the
    // second verify begins, so 2300000; 2750000; the sixth, in the last reset, is the erase's end.
    let stops = |wait| [wait, 40_000, 30_000, 0];
    let of_erase = [
        (40_300, 3_575_097, stops(200)),
        (40_300, 3_575_097, stops(0)),
        (1_190_300, 3_575_097, stops(550_000)),
        (1_190_300, 3_575_097, stops(150_000)),
        (1_190_300, 3_575_097, stops(130_000)),
        (1_190_300, 3_575_097, stops(100_000)),
        (1_190_300, 3_575_097, stops(50_000)),
        (1_190_300, 3_575_097, stops(0)),
        (2_790_300, 3_575_097, stops(250_000)),
        (3_450_300, 3_450_300, NO_COST),
        (3_450_300, 3_450_300, NO_COST),
    ];
    check_rows(scheme(550), false, erase(0), &rows(IN_ERASE, of_erase));
}
