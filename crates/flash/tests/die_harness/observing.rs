//! Is whoever follows the dies told everything, in order, and without a difference to what they do?

use crate::common::*;
use interpulse_engine::SimTime;
use interpulse_flash::command::{Kind, USES};
use interpulse_flash::die::State;
use interpulse_flash::nand::course::Course;
use interpulse_flash::nand::observe::{DataMove, DieChange, FlashObserver};
use interpulse_flash::suspend::Scheme;

/// What it has been told.
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
    bench.nand.follow();
    bench.run();
    bench.nand.tell(&mut log);
    assert_eq!(bench.ends(), alone.ends());
    assert_eq!(bench.nand.counters, alone.nand.counters);
    let end = bench.ends().into_iter().max().expect("operations");
    for (die, of) in bench.nand.dies().iter().zip(0..) {
        let mut uses = [0; USES];
        let (mut state, mut usage, mut since) = (State::Idle, 0, SimTime::ZERO);
        let mut course = Some(Course::of(State::Idle, SimTime::ZERO));
        for change in log.changes.iter().filter(|change| change.die.0 == of) {
            assert_eq!(change.before, state);
            assert!(course.is_some() || change.at == since, "what takes time has a course");
            uses[usage] += change.at.as_ns() - since.as_ns();
            (state, usage, since, course) = (change.state, change.usage as usize, change.at, change.course);
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
    // The second time there is nothing left to tell.
    let mut later = Log::default();
    bench.nand.tell(&mut later);
    assert!(later.changes.is_empty() && later.moves.is_empty());
}
