//! Command pins of their own (SCA): commands move while data of other dies does.

use crate::common::*;
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::Wait;
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::{Nand, NandConfig};
use interpulse_flash::parts::{CacheProgram, CacheRegister, CommandBus, PartSpec};
use interpulse_flash::suspend::Scheme;

fn separate() -> PartSpec {
    PartSpec { command_bus: CommandBus::Separate, ..part() }
}

/// Data of die 1 moves from 50300 to 54797; a read and a program of die 0 come meanwhile.
#[test]
fn commands_move_beside_data() {
    let arrivals = [(0, read(1)), (51_000, read(0))];
    let ends = [READ, 54_797 + READ];
    check("shared", Bench::new(&part(), config(), 2), &arrivals, &ends);
    let bench = check("separate", Bench::new(&separate(), config(), 2), &arrivals, &[READ, 51_000 + READ]);
    assert_eq!(bench.of(1).waits()[Wait::Bus as usize], CMD + UNITS[1]);
    let buses = (bench.nand.channels()[0].busy_ns, bench.nand.command_buses()[0].busy_ns);
    assert_eq!(buses, (2 * UNITS[1], 2 * CMD));
    assert_eq!(bench.nand.counters.bus_time, 2 * UNITS[1]);
}

#[test]
fn a_load_follows_its_command() {
    check("alone", Bench::new(&separate(), config(), 1), &[(0, program(0))], &[PROGRAM]);
    // The command ends at 51300, and the load waits until 54797.
    let arrivals = [(0, read(1)), (51_000, program(0))];
    let ends = [READ, 54_797 + PROGRAM - CMD];
    check("waits", Bench::new(&separate(), config(), 2), &arrivals, &ends);
    // Two programs and an erase at once: commands until 300, 600 and 900; loads as on a bus without commands, from 300 on.
    let arrivals = [(0, program(0)), (0, program(1)), (0, erase(2))];
    let loads = |n: u64| CMD + n * UNITS[4] + SETUP + PULSES;
    let bench = Bench::new(&separate(), config(), 3);
    let bench = check("three", bench, &arrivals, &[loads(5), loads(6), 900 + ERASE_PULSES]);
    assert_eq!(bench.nand.command_buses()[0].busy_ns, 3 * CMD);
    // Two planes: two commands, then six loads.
    let two = but(program(0), |t| t.planes = 2);
    let bench = Bench::new(&separate(), config(), 1);
    check("planes", bench, &[(0, two)], &[2 * CMD + 6 * LOAD + PULSES]);
}

/// A suspended program's reads send their commands over the command pins.
#[test]
fn a_read_in_a_suspension() {
    let config = suspending(Scheme::LoopBoundary, &separate());
    let entered = PULSES_AT + LOOP + 20_000;
    let ends = [entered + READ_DIE + 10_000 + 3 * LOOP, entered + READ];
    let arrivals = [(0, program(0)), (PULSES_AT + 1, read(0))];
    check("program", Bench::new(&separate(), config, 1), &arrivals, &ends);
}

/// Planes that read on their own: the second command does not wait for the data of the first.
#[test]
fn planes_send_commands_beside_data() {
    let part = PartSpec { independent_plane_reads: true, ..separate() };
    let on = |plane| read_of(0, plane, plane, 0, 1);
    let arrivals = [(0, on(0)), (51_000, on(1))];
    check("planes", Bench::new(&part, config(), 1), &arrivals, &[READ, 51_000 + READ]);
}

/// A power cut while a command moves, and while a load waits for the data of another die.
#[test]
fn a_power_cut_ends_commands() {
    for cut in [51_100, 53_000] {
        let mut bench = Bench::new(&separate(), config(), 2);
        bench.at(0, read(1)).at(51_000, program(0)).run_until(cut);
        bench.nand.outage(&mut bench.events, false);
        assert_eq!(bench.nand.pending(), 0);
        let at = bench.events.now().0 + 1_000;
        bench.at(at, program(0)).run();
        assert_eq!(bench.of(2).at, at + PROGRAM, "cut at {cut}");
    }
}

/// Time per read of `reads` reads of 16 dies that always have one waiting, and the busy times of both buses.
fn saturated(part: &PartSpec, reads: u64) -> (f64, [f64; 2]) {
    let dies = 16;
    let config = NandConfig { ecc_latency: Duration::ZERO, ecc_interval: Duration::ZERO, ..config() };
    let geometry = Geometry::new(1, dies, 1, part);
    let mut events = EventQueue::new(Nand::resources(&geometry));
    let mut nand = Nand::new(geometry, part, config, 1, ResourceId(0));
    for die in nand.dies_mut() {
        die.blocks_mut().set_programmed(0, BlockId(0), 3);
    }
    (0..2 * dies).for_each(|k| nand.submit(&mut events, read(k % dies)));
    let mut done = 0;
    while done < reads {
        let (_, timer) = events.next(SimTime(u64::MAX >> 8)).expect("reads are under way");
        nand.on_timer(&mut events, timer.0);
        events.settle();
        while let Some(txn) = nand.take_ended() {
            done += 1;
            let DieId(die) = txn.die;
            nand.submit(&mut events, read(die));
        }
    }
    let now = events.now().0 as f64;
    let commands = nand.command_buses().first().map_or(0, |bus| bus.busy_ns);
    (now / reads as f64, [nand.channels()[0].busy_ns, commands].map(|ns| ns as f64 / now))
}

/// Sixteen dies with a tR of 50 us ask for a read every 3.7 us or less. A shared bus is busy for command and data of each, so
/// that a read takes their sum; of separate ones the longer bounds the reads, and the other is busy for its share.
#[test]
fn command_overhead_bounds_a_shared_bus() {
    let out = UNITS[1];
    for command in [300, 2_000, 4_497, 9_000] {
        let with =
            |command_bus| PartSpec { command_cycles: Duration::from_ns(command), command_bus, ..part() };
        let near =
            |seen: f64, exact: f64| assert!((seen / exact - 1.0).abs() < 0.01, "{command}: {seen} {exact}");
        let (each, [data, _]) = saturated(&with(CommandBus::Shared), 4_000);
        near(each, (command + out) as f64);
        near(data, 1.0);
        let (each, [data, commands]) = saturated(&with(CommandBus::Separate), 4_000);
        let longer = command.max(out) as f64;
        near(each, longer);
        near(data, out as f64 / longer);
        near(commands, command as f64 / longer);
    }
}

#[test]
fn what_shares_the_pins_of_the_data_is_refused() {
    let order = NandConfig { channel_order: ChannelOrder::DataFirst, ..config() };
    assert_eq!(order.excludes_separate_commands(&separate()).map(|of| of.0), Some("schedule.channel-order"));
    let cache = CacheRegister { program: CacheProgram::Die, pages: 1, ..CacheRegister::NONE };
    let part = PartSpec { cache, ..separate() };
    assert_eq!(config().excludes_separate_commands(&part).map(|of| of.0), Some("part.cache.program"));
    assert_eq!(config().excludes_separate_commands(&separate()), None);
}
