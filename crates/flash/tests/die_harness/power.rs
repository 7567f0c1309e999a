//! Energy to the attojoule against phases and currents derived by hand, and the budget at every instant.

use crate::common::*;
use interpulse_engine::{Current, Duration, EnergyPerBit, SimTime, Voltage};
use interpulse_flash::command::EnergyCategory;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::power::budget::least;
use interpulse_flash::nand::power::tally::Energy;
use interpulse_flash::parts::PartSpec;
use interpulse_flash::parts::power::Draw;
use interpulse_flash::suspend::{Reload, Scheme, SuspendCosts, SuspendPolicy};

/// The part of the bench with a current of its own for everything, none of which is a multiple of another.
pub fn distinct() -> PartSpec {
    let mut part = part();
    part.power.vcc = Voltage(3_001);
    part.power.bus_out = EnergyPerBit(5_003);
    part.power.bus_in = EnergyPerBit(7_001);
    for (k, current) in part.power.currents.iter_mut().enumerate() {
        *current = Current(11 + 1_009 * k as u64);
    }
    // A die that only holds an operation draws little, or nothing would need a grant.
    part.power.currents[Draw::Hold as usize] = Current(503);
    part
}

fn current(draw: Draw) -> u128 {
    u128::from(distinct().power.current(draw).as_ua())
}

/// Energy of time in ns for each draw, in aJ.
fn joules(parts: &[(Draw, u64)]) -> u128 {
    parts.iter().map(|&(draw, ns)| current(draw) * u128::from(ns) * 3_001).sum()
}

/// The smallest legal budget of so many dies on one channel.
pub fn least_budget(dies: u32) -> Current {
    least(&distinct().power, Duration::from_ns(SETUP), 3, dies, 1)
}

/// Both ways of adding up agree, nothing is left over, and the budget was kept.
pub fn assert_power(bench: &mut Bench, config: &PowerConfig, dies: u32) {
    let now = bench.events.now();
    let part = distinct().power;
    let spent = bench.nand.spent(now);
    assert_eq!(spent.die_time(), now.as_ns() * u64::from(dies));
    let energy = spent.energy(&part);
    assert_eq!(energy.totals().core, spent.core_by_draw(&part));
    if let Some(meter) = bench.nand.meter() {
        assert_eq!(meter.total(now), energy.totals());
        let reading = meter.read(now);
        if let Some(budget) = config.budget {
            assert!(reading.most <= budget, "{} of a budget of {budget}", reading.most);
        }
        let series = &reading.series;
        assert!(series.energies.iter().map(|point| point.both()).sum::<u128>() <= energy.totals().both());
        assert_eq!(reading.windows, now.as_ns() / reading.window.as_ns());
    }
}

/// Both ways of adding up agree while operations are under way. Transfers count when they end, so that the bus is left
/// out.
pub fn assert_power_in_the_middle(bench: &mut Bench, at: u64) {
    let at = SimTime(at.max(bench.events.now().0));
    if bench.nand.pending() == 0 {
        return;
    }
    // Reading must not disturb the run.
    let mut nand = bench.nand.clone();
    let energy = nand.spent(at).energy(&distinct().power);
    if let Some(meter) = nand.meter() {
        assert_eq!(meter.total(at).core, energy.totals().core);
    }
}

/// A run with the meter on: the energies at its end.
fn energies(config: NandConfig, fill: impl Fn(&mut Bench)) -> (Bench, Energy) {
    let power = PowerConfig { trace: Some(Duration::from_us(100)), ..config.power };
    let config = NandConfig { power, ..config };
    let mut bench = Bench::new(&distinct(), config, 1);
    fill(&mut bench);
    bench.run();
    let now = bench.events.now();
    assert_power(&mut bench, &power, 1);
    let energy = bench.nand.spent(now).energy(&distinct().power);
    (bench, energy)
}

fn of(energy: &Energy, spender: EnergyCategory) -> (u128, u128) {
    (energy.core[spender as usize], energy.bus[spender as usize])
}

#[test]
fn a_read_by_hand() {
    let (_, energy) = energies(config(), |bench| {
        bench.at(1_000, read_of(0, 0, 0, 2, 2));
    });
    let core = joules(&[(Draw::Idle, CMD), (Draw::Sense2, MSB), (Draw::Out, UNITS[2])]);
    // Two units with their share of the parity, 8 x 5003 fJ a byte.
    assert_eq!(of(&energy, EnergyCategory::Read), (core, 8_993 * 8 * 5_003 * 1_000));
    assert_eq!(of(&energy, EnergyCategory::Idle), (joules(&[(Draw::Standby, 1_000 + DECODE + INTERVAL)]), 0));
    assert_eq!(energy.totals().core, core + joules(&[(Draw::Standby, 1_000 + DECODE + INTERVAL)]));
}

/// Sensed together: one sensing, that of the slowest page; two transfers.
#[test]
fn reads_of_two_planes_by_hand() {
    let config = NandConfig { multi_plane_reads: true, ..config() };
    let (_, energy) = energies(config, |bench| {
        bench.at(0, read(0)).at(1, read_of(0, 1, 0, 1, 1)).at(1, read_of(0, 2, 0, 2, 4));
    });
    let core = joules(&[
        (Draw::Idle, 3 * CMD),
        (Draw::Sense0, LSB),
        (Draw::Sense2, MSB),
        (Draw::Out, 2 * UNITS[1] + UNITS[4]),
    ]);
    assert_eq!(of(&energy, EnergyCategory::Read), (core, (2 * 4_497 + 17_986) * 8 * 5_003_000));
}

/// Four loops and the read that stops them after the second: every part of the suspension has its own current.
#[test]
fn a_suspended_program_by_hand() {
    let stops = suspending(Scheme::LoopBoundary, &part());
    let (_, energy) = energies(stops, |bench| {
        bench.at(0, program(0)).at(PULSES_AT + LOOP + 9_000, read(0));
    });
    let program = joules(&[
        (Draw::Load, CMD + 3 * LOAD),
        (Draw::ProgramPulse, 4 * 35_000),
        (Draw::ProgramVerify, 4 * 90_000),
    ]);
    assert_eq!(of(&energy, EnergyCategory::Program), (program, 3 * 17_986 * 8 * 7_001_000));
    let read = joules(&[(Draw::Idle, CMD), (Draw::Sense0, LSB), (Draw::Out, UNITS[1])]);
    assert_eq!(of(&energy, EnergyCategory::Read), (read, 4_497 * 8 * 5_003_000));
    let suspension = joules(&[(Draw::Entry, 20_000), (Draw::Resume, 10_000)]);
    assert_eq!(of(&energy, EnergyCategory::Suspension), (suspension, 0));
}

/// A pulse that is cancelled midway is paid for twice: what it had done, and the whole loop again; so are the discharge,
/// the held suspension, and the data that comes over the bus again.
#[test]
fn a_cancelled_and_redone_pulse_by_hand() {
    let costs = SuspendCosts {
        entry: Duration::from_ns(20_000),
        resume: Duration::from_ns(10_000),
        reset: Duration::from_ns(4_000),
    };
    let mut cancelling = NandConfig {
        program_suspend: SuspendPolicy {
            reload: Reload::Bus,
            ..SuspendPolicy::unlimited(Scheme::IntraPhaseCancel, costs)
        },
        ..suspending(Scheme::IntraPhaseCancel, &part())
    };
    cancelling.program_suspend.costs = costs;
    // 12 us into the second pulse.
    let (bench, energy) = energies(cancelling, |bench| {
        bench.at(0, program(0)).at(PULSES_AT + LOOP + 12_000, read(0));
    });
    assert_eq!(bench.nand.counters.program_redone_time, 12_000);
    let program = joules(&[
        (Draw::Load, CMD + 3 * LOAD),
        (Draw::ProgramPulse, 4 * 35_000 + 12_000),
        (Draw::ProgramVerify, 4 * 90_000),
    ]);
    assert_eq!(of(&energy, EnergyCategory::Program), (program, 3 * 17_986 * 8 * 7_001_000));
    let suspension = joules(&[
        (Draw::Discharge, bench.nand.counters.entry_time - 20_000),
        (Draw::Entry, 20_000),
        (Draw::Load, 3 * LOAD),
        (Draw::Resume, 10_000),
    ]);
    assert_eq!(of(&energy, EnergyCategory::Suspension), (suspension, 3 * 17_986 * 8 * 7_001_000));
}

/// An erase that resumes in the middle of a pulse: the ramp is paid at the pulse's current.
#[test]
fn a_resumed_erase_by_hand() {
    let mut exact = suspending(Scheme::Exact, &part());
    exact.erase_suspend.resume_ramp = Duration::from_ns(3_000);
    let (bench, energy) = energies(exact, |bench| {
        bench.at(0, erase(0)).at(CMD + ERASE_LOOP + 400_000, read(0));
    });
    assert_eq!((bench.nand.counters.erase_suspends, bench.nand.counters.ramp_time), (1, 3_000));
    let erase = joules(&[
        (Draw::Idle, CMD),
        (Draw::ErasePulse, 3 * 1_000_000 + 3_000),
        (Draw::EraseVerify, 3 * 100_000),
    ]);
    assert_eq!(of(&energy, EnergyCategory::Erase), (erase, 0));
    let suspension = joules(&[(Draw::Entry, 40_000), (Draw::Resume, 30_000)]);
    assert_eq!(of(&energy, EnergyCategory::Suspension), (suspension, 0));
}

/// A reading in the middle of a pulse counts what has been done, and two readings add up.
#[test]
fn readings_in_the_middle_of_everything_add_up() {
    let stops = suspending(Scheme::LoopBoundary, &part());
    let power = PowerConfig {
        standby_after: Duration::from_ns(50_000),
        trace: Some(Duration::from_us(100)),
        budget: None,
    };
    let fill = |bench: &mut Bench| {
        bench.at(70_000, program(0)).at(300_000, read(0)).at(310_000, erase(0));
    };
    let filled = || {
        let mut bench = Bench::new(&distinct(), NandConfig { power, ..stops.clone() }, 1);
        fill(&mut bench);
        bench
    };
    let end = filled().run().events.now().0;
    assert!(end > 3_000_000);
    for cut in (1_000..end).step_by(17_777) {
        let mut bench = filled();
        bench.run_until(cut);
        let at = SimTime(cut.max(bench.events.now().0));
        let spent = bench.nand.spent(at);
        assert_eq!(spent.die_time(), at.as_ns(), "{cut}");
        // A transfer counts when it ends, so the buses are compared at the end only.
        let core = bench.nand.meter().expect("the meter is on").total(at).core;
        assert_eq!(spent.energy(&distinct().power).totals().core, core, "{cut}");
        bench.run();
        assert_power(&mut bench, &power, 1);
    }
}

/// Two dies and a budget for one: the second program waits until the first has given back what it held, and the read
/// accounts for what it waited for.
#[test]
fn a_budget_for_one_operation_lets_one_run_at_a_time() {
    let power = PowerConfig {
        trace: Some(Duration::from_ms(1)),
        budget: Some(least_budget(2)),
        ..PowerConfig::default()
    };
    let mut bench = Bench::new(&distinct(), NandConfig { power, ..config() }, 2);
    bench.at(0, program(0)).at(PULSES_AT + 1_000, read(1)).run();
    assert_power(&mut bench, &power, 2);
    let read = bench.of(1);
    // From the read's arrival to the end of the pulses, then everything else as on an idle die.
    let waited = PULSES - 1_000;
    assert_eq!(read.time(), waited + READ);
    assert_eq!(read.txn.held, waited);
    assert_eq!(read.waited(), waited + READ_DIE);
    assert_eq!((bench.nand.counters.power_waits, bench.nand.counters.power_wait_time), (1, waited));
    let waits = bench.nand.budget().expect("there is one").waits(SimTime(2 * PULSES_AT + PULSES));
    assert_eq!((waits.longest, waits.contended), (Duration::from_ns(waited), waited));
}

/// With room for both, nothing waits and nothing is different.
#[test]
fn a_budget_with_room_changes_nothing() {
    let ends = |budget| {
        let power = PowerConfig { trace: None, budget, ..PowerConfig::default() };
        let mut bench =
            Bench::new(&distinct(), NandConfig { power, ..suspending(Scheme::LoopBoundary, &part()) }, 2);
        bench.at(0, program(0)).at(100_000, read(0)).at(120_000, erase(1)).at(500_000, read(1)).run();
        assert_eq!(bench.nand.counters.power_waits, 0);
        bench.ends()
    };
    let room = Current(least_budget(2).as_ua() * 3);
    assert_eq!(ends(Some(room)), ends(None));
}
