//! Observers: complete, ordered reports that agree with the dies.

use crate::common::*;
use interpulse_engine::SimTime;
use interpulse_flash::command::{DIE_ACTIVITIES, Kind};
use interpulse_flash::die::State;
use interpulse_flash::nand::observer::{DataMove, DieChange, FlashObserver};
use interpulse_flash::nand::phase_schedule::PhaseSchedule;
use interpulse_flash::suspend::Scheme;

/// Reported events.
#[derive(Default)]
struct Log {
    changes: Vec<DieChange>,
    moves: Vec<DataMove>,
}

impl FlashObserver for Log {
    fn die_changed(&mut self, change: &DieChange) {
        self.changes.push(*change);
    }

    fn data_moves(&mut self, data: &DataMove) {
        self.moves.push(*data);
    }
}

/// Reads, programs and erases of two dies, whose programs and erases are suspended.
fn loaded() -> Bench {
    let mut bench = Bench::new(&part(), suspending(Scheme::InterPhase, &part()), 2);
    for k in 0..20 {
        let die = k as u32 % 2;
        bench.at(k * 90_000, read(die)).at(k * 170_000, program(die)).at(k * 400_000, erase(die));
        bench.at(k * 60_000 + 7, but(read(die), |t| t.kind = Kind::GcRead));
    }
    bench
}

#[test]
fn a_follower_is_told_every_change_and_changes_nothing() {
    let mut alone = loaded();
    alone.run();
    let (mut bench, mut log) = (loaded(), Log::default());
    bench.nand.start_observing();
    bench.run();
    bench.nand.notify(&mut log);
    assert_eq!(bench.ends(), alone.ends());
    assert_eq!(bench.nand.counters, alone.nand.counters);
    let end = bench.ends().into_iter().max().expect("operations");
    for (die, of) in bench.nand.dies().iter().zip(0..) {
        let mut uses = [0; DIE_ACTIVITIES];
        let (mut state, mut usage, mut since) = (State::Idle, 0, SimTime::ZERO);
        let mut course = Some(PhaseSchedule::of(State::Idle, SimTime::ZERO));
        for change in log.changes.iter().filter(|change| change.die.0 == of) {
            assert_eq!(change.before, state);
            assert!(course.is_some() || change.at == since, "what takes time has a course");
            uses[usage] += change.at.as_ns() - since.as_ns();
            (state, usage, since, course) = (change.state, change.usage as usize, change.at, change.schedule);
        }
        assert_eq!(state, State::Idle);
        uses[usage] += end - since.as_ns();
        let mut account = die.usage.clone();
        account.settle(SimTime(end));
        assert_eq!(uses, account.uses());
    }
    let moved: u64 = log.moves.iter().map(|data| data.end.since(data.at).as_ns()).sum();
    let commands = bench.nand.counters.bus_time - moved;
    assert!(commands > 0 && moved > commands);
    // The second time there is nothing left to report.
    let mut later = Log::default();
    bench.nand.notify(&mut later);
    assert!(later.changes.is_empty() && later.moves.is_empty());
}
