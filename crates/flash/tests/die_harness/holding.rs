//! Resumption of a suspended operation, and the next stop after it.
//!
//! `exact`: a read at 70000 stops the program 12742 into its pulses; it enters until 90000, the read has the die until
//! 144797; leaving takes 10000. Alone the program ends at 557258.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::{NandConfig, NandCounters};
use interpulse_flash::suspend::{DeferClock, ResumePolicy, Scheme, SuspendPolicy, Timeout};

fn us(us: u64) -> Option<Duration> {
    Some(Duration::from_us(us))
}

fn of(change: impl Fn(&mut SuspendPolicy)) -> NandConfig {
    let mut config = suspending(Scheme::Exact, &part());
    change(&mut config.program_suspend);
    config
}

/// Reads at 70000 and, if not 0, at `second`: when the second may start and when the program ends.
fn run(config: &NandConfig, second: u64) -> (u64, u64, NandCounters) {
    let mut bench = Bench::new(&part(), config.clone(), 1);
    bench.at(0, program(0)).at(70_000, read(0));
    if second > 0 {
        bench.at(second, read(0));
    }
    bench.run();
    let starts = if second > 0 { bench.of(2).at - READ } else { 0 };
    (starts, bench.of(0).at, bench.nand.counters)
}

/// What comes after the halt waits for the next stop, which is at once when the program goes on: 154797, entered
/// 174797; 557258 + 2 * 84797 = 726852.
#[test]
fn a_batch() {
    let batch = of(|policy| policy.resume = ResumePolicy::Batch);
    for second in [70_001, 80_000, 120_000, 150_000] {
        let (starts, ends, c) = run(&batch, second);
        assert_eq!((starts, ends, c.program_suspends), (174_797, 726_852, 2), "second read at {second}");
    }
    // Drained, the first two are served in the same suspension: 557258 + 30000 + 2 * 54797 = 696852.
    let (starts, ends, c) = run(&of(|_| ()), 80_000);
    assert_eq!((starts, ends, c.program_suspends), (144_797, 696_852, 1));
}

/// The die is held until 90000 + 200000 = 290000, pulses from 300000 on: 557258 + 230000 = 787258.
#[test]
fn a_timer() {
    let timer = of(|policy| policy.resume = ResumePolicy::Timer(Duration::from_us(200)));
    let (_, ends, c) = run(&timer, 0);
    assert_eq!((ends, c.program_suspended_time), (787_258, 230_000));
    // Reads that come while it is held are served at once; one is under way at 290000: until 289000 + 54797 =
    // 343797, resumed 353797; 841055. One that comes in the resume stops it again, at 300000, entered 320000, held
    // until 520000, pulses from 530000 on: 1017258.
    for (second, starts, ends) in [
        (100_000, 144_797, 787_258),
        (200_000, 200_000, 787_258),
        (289_000, 289_000, 841_055),
        (290_000, 320_000, 1_017_258),
        (295_000, 320_000, 1_017_258),
    ] {
        let (began, ended, _) = run(&timer, second);
        assert_eq!((began, ended), (starts, ends), "second read at {second}");
    }
}

/// Either limit ends the hold at 70000 + 150000 = 220000: pulses from 230000 on, 717258. A read under way then is
/// finished: 200000 + 54797, resumed 264797, 752055. After that nothing stops the program.
#[test]
fn the_end_of_patience_ends_the_hold() {
    for by_age in [false, true] {
        let config = of(|policy| {
            policy.resume = ResumePolicy::Timer(Duration::from_us(200));
            let limit = us(150);
            (policy.max_suspended_time, policy.timeout) = if by_age { (None, limit) } else { (limit, None) };
        });
        for (second, starts, ends, refused) in [
            (0, 0, 717_258, 0),
            (200_000, 200_000, 752_055, 0),
            (219_999, 219_999, 772_054, 0),
            (220_000, 717_258, 717_258, 1),
            (225_000, 717_258, 717_258, 1),
            (400_000, 717_258, 717_258, 1),
        ] {
            let (began, ended, c) = run(&config, second);
            assert_eq!((began, ended, c.stops_refused_by_limit), (starts, ends, refused), "read at {second}");
        }
    }
}

/// Pulsing again at 154797, the program may be stopped again from 204797 on: a read that waits is served then.
#[test]
fn the_least_interval() {
    let config = of(|policy| policy.min_interval = Duration::from_us(50));
    for (second, starts, put_off) in [
        (150_000, 224_797, 1),
        (160_000, 224_797, 1),
        (204_796, 224_797, 1),
        (204_797, 224_797, 0),
        (210_000, 230_000, 0),
    ] {
        let (began, ended, c) = run(&config, second);
        assert_eq!((began, ended, c.stops_put_off), (starts, 726_852, put_off), "read at {second}");
        assert_eq!(c.stop_time, 0, "the wait is the limit's, not the stop's");
    }
    // An interval that lasts beyond the program's end, 642055: the read waits for that.
    let config = of(|policy| policy.min_interval = Duration::from_us(600));
    let (began, ended, c) = run(&config, 160_000);
    assert_eq!((began, ended, c.stops_put_off, c.program_suspends), (642_055, 642_055, 1, 1));
}

/// `timeout` after 100000 by the operation's own clocks: since its first suspension, and suspended in all.
#[test]
fn the_clocks_of_the_timeout() {
    // The read at 70000 loses 12742 and is served from 90000 to 144797; the first loop begins again at 154797 and ends
    // at 279797; 84797 have been suspended.
    let config = |clock| {
        suspending(
            Scheme::Timeout(Timeout { after: Duration::from_us(100), clock, ..Timeout::DEFAULT }),
            &part(),
        )
    };
    let at_once = |at: u64| at + 20_000;
    for (clock, second, starts) in [
        (DeferClock::FirstSuspend, 169_999, at_once(169_999)),
        (DeferClock::FirstSuspend, 170_000, 279_797),
        (DeferClock::FirstSuspend, 180_000, 279_797),
        (DeferClock::SuspendedTime, 170_000, at_once(170_000)),
        (DeferClock::SuspendedTime, 270_000, at_once(270_000)),
    ] {
        assert_eq!(run(&config(clock), second).0, starts, "{clock:?}, read at {second}");
    }
    // Stopped a second time at 180000 and pulsing again at 264797, 169594 have been suspended: the loop is finished
    // at 389797, where nothing is to be entered.
    let mut bench = Bench::new(&part(), config(DeferClock::SuspendedTime), 1);
    bench.at(0, program(0)).at(70_000, read(0)).at(180_000, read(0)).at(300_000, read(0)).run();
    assert_eq!((bench.of(2).at, bench.of(3).at), (200_000 + READ, 389_797 + READ));
    // The loops that are left after it, 375000, end 389797 + 54797 + 10000 + 375000; lost were 12742 and
    // 180000 - 154797.
    assert_eq!(bench.of(0).at, 829_594);
    assert_eq!(bench.nand.counters.program_redone_time, 12_742 + 25_203);
}
