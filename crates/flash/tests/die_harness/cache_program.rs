//! Cache program: start of the loads while a program pulses, and the effect of reads on loaded data.

use crate::common::*;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::DieActivity;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister, PartSpec, ProgramMode};
use interpulse_flash::suspend::{Reload, Scheme};

/// From the cache register to the page buffer.
const OVER: u64 = 2_000;

fn cached(program: CacheProgram, pages: u32, on_read: CacheOnRead) -> PartSpec {
    let cache = CacheRegister { program, pages, transfer: Duration::from_ns(OVER), on_read, reads: false };
    PartSpec { cache, ..part() }
}

fn whole(on_read: CacheOnRead) -> PartSpec {
    cached(CacheProgram::Block, 3, on_read)
}

/// Pages loaded ahead, those lost, and programs that began with some.
fn counted(bench: &Bench) -> [u64; 3] {
    let c = bench.nand.counters;
    [c.cached_pages, c.cached_pages_lost, c.cached_programs]
}

#[test]
fn programs_follow_each_other_without_a_load_between() {
    // The loads of the second end at 57258 + 57258, long before the pulses of the first.
    let next = OVER + PULSES;
    let three = [(0, program(0)), (0, program(0)), (10_000, program(0))];
    let bench = check(
        "three pages in the register",
        Bench::new(&whole(CacheOnRead::Lost), config(), 1),
        &three,
        &[PROGRAM, PROGRAM + next, PROGRAM + 2 * next],
    );
    assert_eq!(counted(&bench), [6, 0, 2]);
    assert_eq!(bench.nand.counters.bus_time, 3 * 54_258);
    // One of three pages: the other two are loaded between.
    let next = 2 * LOAD + OVER + PULSES;
    let part = cached(CacheProgram::Block, 1, CacheOnRead::Lost);
    let ends = [PROGRAM, PROGRAM + next, PROGRAM + 2 * next];
    let bench = check("one page in the register", Bench::new(&part, config(), 1), &three, &ends);
    assert_eq!(counted(&bench), [2, 0, 2]);
    // Without cache program.
    let ends = [PROGRAM, 2 * PROGRAM, 3 * PROGRAM];
    assert_eq!(counted(&check("none", Bench::new(&part_without(), config(), 1), &three, &ends)), [0; 3]);
}

fn part_without() -> PartSpec {
    PartSpec { cache: CacheRegister::NONE, ..part() }
}

#[test]
fn page_by_page_the_register_takes_the_whole_program() {
    let mlc = PartSpec {
        bits_per_cell: 2,
        program_mode: ProgramMode::Page,
        read: part().read[..2].to_vec(),
        ..cached(CacheProgram::Block, 1, CacheOnRead::Lost)
    };
    let page = |page| but(program(0), |t| (t.block, t.page) = (BlockId(4), page));
    let first = CMD + LOAD + PULSES;
    let ends = [first, first + OVER + PULSES, first + 2 * (OVER + PULSES)];
    check("pages", Bench::new(&mlc, config(), 1), &[(0, page(0)), (0, page(1)), (0, page(2))], &ends);
}

#[test]
fn a_load_under_way_when_its_turn_comes_goes_on() {
    // The first page moves when the pulses end: everything is as if the die had been free when the program came.
    let late = PROGRAM - 10_000;
    let part = whole(CacheOnRead::Lost);
    let ends = [PROGRAM, late + PROGRAM];
    let bench = check("first", Bench::new(&part, config(), 1), &[(0, program(0)), (late, program(0))], &ends);
    assert_eq!(counted(&bench), [0, 0, 0]);
    // The second moves, and the first has been in the register.
    let late = PROGRAM - 25_000;
    let ends = [PROGRAM, late + PROGRAM + OVER];
    let bench =
        check("second", Bench::new(&part, config(), 1), &[(0, program(0)), (late, program(0))], &ends);
    assert_eq!(counted(&bench), [1, 0, 1]);
    assert_eq!(bench.nand.counters.bus_time, 2 * 54_258);
}

/// The bus belongs to another die when the turn of the program comes.
#[test]
fn a_load_that_waits_for_the_bus_keeps_its_place() {
    let arrivals = [(0, program(0)), (550_000, program(1)), (557_000, program(0))];
    // Die 1 has the bus to 550000 + 300 + 17986 = 568286; then in turns: die 0 to 586572, die 1 to 604558, die 0 to
    // 622544, die 1 to 640530 and die 0 to 658516.
    let ends = [PROGRAM, 640_530 + SETUP + PULSES, 658_516 + SETUP + PULSES];
    let bench = check("bus", Bench::new(&whole(CacheOnRead::Lost), config(), 2), &arrivals, &ends);
    assert_eq!(counted(&bench), [0, 0, 0]);
}

#[test]
fn which_program_may_be_loaded() {
    let at = |block: u32| but(program(0), |t| t.block = BlockId(block));
    let follows = |program, arrivals: &[(u64, Txn)], name: &str, second: u64| {
        let part = cached(program, 3, CacheOnRead::Lost);
        let ends = [PROGRAM, PROGRAM + second];
        check(name, Bench::new(&part, config(), 1), arrivals, &ends);
    };
    let apart = [(0, at(4)), (0, at(5))];
    follows(CacheProgram::Block, &apart, "another block", PROGRAM);
    follows(CacheProgram::Die, &apart, "another block of the die", OVER + PULSES);
    let plane = [(0, at(4)), (0, but(at(4), |t| t.plane = 1))];
    follows(CacheProgram::Block, &plane, "another plane", PROGRAM);
    follows(CacheProgram::Die, &plane, "another plane of the die", OVER + PULSES);
    let moved =
        [(0, at(4)), (0, but(Txn::new(Kind::GcProgram, DieId(0)), |t| (t.block, t.page) = (BlockId(4), 3)))];
    follows(CacheProgram::Block, &moved, "moved data into the same block", OVER + PULSES);
    // Nothing is loaded while an erase pulses, nor behind what comes between.
    let part = cached(CacheProgram::Die, 3, CacheOnRead::Lost);
    let erased = CMD + ERASE_PULSES;
    let arrivals = [(0, erase(0)), (0, program(0))];
    check("erase", Bench::new(&part, config(), 1), &arrivals, &[erased, erased + PROGRAM]);
    let arrivals = [(0, program(0)), (0, erase(0)), (0, program(0))];
    let ends = [PROGRAM, PROGRAM + erased, PROGRAM + erased + PROGRAM];
    check("erase between", Bench::new(&part, config(), 1), &arrivals, &ends);
}

/// A read that cannot stop the program comes before the one whose data is in the register.
#[test]
fn a_read_between_two_programs() {
    let first = NandConfig { policy: Policy::ReadPriority, ..config() };
    let arrivals = [(0, program(0)), (0, program(0)), (200_000, read(0))];
    let read_ends = PROGRAM + READ;
    for (on_read, second, counts) in [
        (CacheOnRead::Kept, OVER + PULSES, [3, 0, 1]),
        (CacheOnRead::Lost, PROGRAM, [3, 3, 0]),
        (CacheOnRead::Refused, PROGRAM, [3, 3, 0]),
    ] {
        let ends = [PROGRAM, PROGRAM + READ_DIE + second, read_ends];
        let bench = check("read", Bench::new(&whole(on_read), first.clone(), 1), &arrivals, &ends);
        assert_eq!(counted(&bench), counts, "{on_read:?}");
    }
    // What would be lost is not loaded; the page under way when the read comes is, and for nothing.
    let arrivals = [(0, program(0)), (0, program(0)), (PULSES_AT + 1_000, read(0))];
    let ends = [PROGRAM, PROGRAM + READ_DIE + PROGRAM, read_ends];
    let bench = check("in vain", Bench::new(&whole(CacheOnRead::Lost), first, 1), &arrivals, &ends);
    assert_eq!(counted(&bench), [1, 1, 0]);
}

/// A program is suspended with the data of the next in the register.
#[test]
fn a_suspension_with_data_in_the_register() {
    let stops = suspending(Scheme::LoopBoundary, &part());
    // Elapsed 142742 at 200000: the loop ends at 307258; entry, read, resume, and two loops are left.
    let halt = PULSES_AT + 2 * LOOP;
    let read_ends = halt + 20_000 + READ;
    let first = halt + 20_000 + READ_DIE + 10_000 + 2 * LOOP;
    let arrivals = [(0, program(0)), (0, program(0)), (200_000, read(0))];
    // Lost data is sent again while the two loops last: the same end, and more time on the bus.
    for (on_read, counts, loads) in [(CacheOnRead::Kept, [3, 0, 1], 2), (CacheOnRead::Lost, [6, 3, 1], 3)] {
        let ends = [first, first + OVER + PULSES, read_ends];
        let bench = check("suspended", Bench::new(&whole(on_read), stops.clone(), 1), &arrivals, &ends);
        assert_eq!(counted(&bench), counts, "{on_read:?}");
        assert_eq!(bench.nand.counters.bus_time, loads * 54_258 + CMD + UNITS[1]);
    }
    let ends = [PROGRAM, PROGRAM + READ_DIE + PROGRAM, PROGRAM + READ];
    let refusing = Bench::new(&whole(CacheOnRead::Refused), stops.clone(), 1);
    let bench = check("refused", refusing, &arrivals, &ends);
    assert_eq!((bench.nand.counters.stops_refused_by_cache, bench.nand.counters.program_suspends), (1, 0));
    // Before there is any data, the part does not refuse.
    let alone = [(0, program(0)), (200_000, read(0))];
    let refusing = Bench::new(&whole(CacheOnRead::Refused), stops, 1);
    check("nothing to refuse for", refusing, &alone, &[first, read_ends]);
}

/// Halted at once with the second page half moved: it moves on, and the third is loaded after the resume.
#[test]
fn a_page_that_moves_at_the_halt_moves_on() {
    let stops = suspending(Scheme::Exact, &part());
    // The pages of the second program: to 57258 + 300 + 18986 = 76544, 95530, 114516.
    let at = 80_000;
    // The read's command waits for the bus until 76544 + 17986 = 94530; entry ends at 100000.
    let resumed = at + 20_000 + READ_DIE + 10_000;
    let first = resumed + (PULSES - (at - PULSES_AT));
    let arrivals = [(0, program(0)), (0, program(0)), (at, read(0))];
    let ends = [first, first + OVER + PULSES, at + 20_000 + READ];
    for (on_read, counts) in [(CacheOnRead::Kept, [3, 0, 1]), (CacheOnRead::Lost, [5, 2, 1])] {
        let bench = check("moves on", Bench::new(&whole(on_read), stops.clone(), 1), &arrivals, &ends);
        assert_eq!(counted(&bench), counts, "{on_read:?}");
    }
}

/// The account of the second program: its loads lie in its wait for the first, and all adds up.
#[test]
fn the_account_of_a_program_that_was_loaded_ahead() {
    let mut bench = Bench::new(&whole(CacheOnRead::Lost), config(), 1);
    bench.at(0, program(0)).at(1_000, program(0)).run();
    let second = bench.of(1);
    assert_eq!(second.txn.own, OVER + PULSES);
    assert_eq!(second.waits(), [0, PROGRAM - 1_000, 0, 0, 0, 0, 0, 0]);
    assert_eq!(second.waited() + second.txn.own, second.time());
    let uses = bench.nand.dies()[0].usage.uses();
    assert_eq!(uses[DieActivity::PulseHost as usize], 2 * PULSES + OVER);
    assert_eq!(uses[DieActivity::BusProgram as usize], PULSES_AT);
}

/// Power is cut with data in the register: only what had pulses is torn, and the die is as new.
#[test]
fn a_cut_with_data_in_the_register() {
    let at = |page| but(program(0), |t| (t.block, t.page) = (BlockId(4), page));
    for cut in [PULSES_AT + 1_000, PULSES_AT + 40_000, PROGRAM - 1, PROGRAM + 1] {
        let part = whole(CacheOnRead::Kept);
        let mut bench = Bench::new(&part, config(), 2);
        // The read of another die is there for the instant of the cut.
        bench.at(0, at(0)).at(0, at(3)).at(cut, read(1)).run_until(cut);
        let torn = bench.nand.outage(&mut bench.events, false);
        assert_eq!(torn.len(), usize::from(cut < PROGRAM), "{cut}");
        assert!(bench.events.next(SimTime(u64::MAX >> 8)).is_none(), "{cut}");
        assert_eq!((bench.nand.pending(), bench.nand.is_moving()), (0, false));
    }
}

/// The meter and the sums by state agree through loads behind pulses, suspensions with the page buffer sent again over the
/// bus, and reads that meet data in the register.
#[test]
fn energy_of_loads_behind_pulses() {
    use crate::die_harness::power::{assert_power, distinct};
    for on_read in [CacheOnRead::Kept, CacheOnRead::Lost, CacheOnRead::Refused] {
        let part = PartSpec { cache: whole(on_read).cache, ..distinct() };
        let power = PowerConfig { trace: Some(Duration::from_us(10)), ..PowerConfig::default() };
        let mut config = NandConfig { power, ..suspending(Scheme::IntraPhaseCancel, &part) };
        config.program_suspend.reload = Reload::Bus;
        let mut bench = Bench::new(&part, config, 2);
        for k in 0..6 {
            bench
                .at(0, program(0))
                .at(k * 90_000, read(0))
                .at(k * 40_000, program(1))
                .at(k * 70_000, read(1));
        }
        bench.run();
        assert_power(&mut bench, &power, 2);
        assert!(bench.nand.counters.cached_pages > 10, "{:?}", bench.nand.counters);
    }
}
