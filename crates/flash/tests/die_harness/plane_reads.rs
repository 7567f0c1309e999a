//! Independent plane reads: each plane of a die reads on its own.

use crate::common::*;
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime, Streams};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::{Nand, NandConfig};
use interpulse_flash::parts::{PartSpec, power::Draw};
use interpulse_flash::suspend::Scheme;

fn independent() -> PartSpec {
    PartSpec { independent_plane_reads: true, ..part() }
}

fn on(plane: u32) -> interpulse_flash::nand::txn::Txn {
    read_of(0, plane, plane, 0, 1)
}

/// When the data of two reads that start together on two planes has moved, from then on: the second senses behind the
/// command of the first and waits for its data.
const BOTH: u64 = READ_DIE + UNITS[1];

#[test]
fn planes_read_at_the_same_time() {
    let late = read_of(0, 2, 3, 23, 1);
    let arrivals = [(0, on(0)), (0, on(1)), (20_000, late)];
    let ends = [READ, BOTH + DECODE, 20_000 + CMD + MSB + UNITS[1] + DECODE];
    let bench = check("three planes", Bench::new(&independent(), config(), 1), &arrivals, &ends);
    // The command waits for that of the first, the data for its data: 300 + 300 + 4197 + 4497.
    assert_eq!(bench.of(1).waits(), [0, 0, 0, 0, 0, 0, BOTH - LSB, LSB]);
    assert_eq!(bench.of(2).waits(), [0, 0, 0, 0, 0, 0, CMD + UNITS[1], MSB]);
    // One after the other without.
    let ends = [READ, 2 * READ_DIE + DECODE, 2 * READ_DIE + CMD + MSB + UNITS[1] + DECODE];
    check("without", Bench::new(&part(), config(), 1), &arrivals, &ends);
}

#[test]
fn reads_of_one_plane_follow_one_another() {
    let arrivals = [(0, on(0)), (0, read_of(0, 0, 1, 0, 1)), (0, on(1))];
    // The third overtakes the second, whose command follows the data of the first; data of the third is on the bus until then.
    let ends = [READ, BOTH + CMD + LSB + UNITS[1] + DECODE, BOTH + DECODE];
    let bench = check("one plane", Bench::new(&independent(), config(), 1), &arrivals, &ends);
    assert_eq!(bench.of(1).waits(), [READ_DIE, 0, 0, 0, 0, 0, UNITS[1] + CMD + UNITS[1], LSB]);
}

/// A program or erase takes the whole die; reads behind it start no earlier than it, unless reads go first.
#[test]
fn programs_wait_for_all_planes() {
    let arrivals = [(0, on(0)), (10, on(1)), (20, program(0)), (30, on(2))];
    let ends = [READ, BOTH + DECODE, BOTH + PROGRAM, BOTH + PROGRAM + READ];
    check("fifo", Bench::new(&independent(), config(), 1), &arrivals, &ends);
    let first = NandConfig { policy: Policy::ReadPriority, ..config() };
    let three = BOTH + UNITS[1];
    let ends = [READ, BOTH + DECODE, three + PROGRAM, three + DECODE];
    check("read priority", Bench::new(&independent(), first, 1), &arrivals, &ends);
}

/// A suspended program or erase serves reads on several planes and resumes when the last has moved.
#[test]
fn planes_read_in_a_suspension() {
    let stops = suspending(Scheme::LoopBoundary, &part());
    let reads = [(100_000, on(0)), (100_000, on(1))];
    let entered = PULSES_AT + LOOP + 20_000;
    let ends = [entered + BOTH + 10_000 + 3 * LOOP, entered + READ, entered + BOTH + DECODE];
    let arrivals = [&[(0, program(0))], &reads[..]].concat();
    let bench = check("program", Bench::new(&independent(), stops.clone(), 1), &arrivals, &ends);
    assert_eq!((bench.nand.counters.reads_in_suspension, bench.nand.counters.program_suspends), (2, 1));
    let entered = CMD + ERASE_LOOP + 40_000;
    let ends = [entered + BOTH + 30_000 + 2 * ERASE_LOOP, entered + READ, entered + BOTH + DECODE];
    let arrivals = [&[(0, erase(0))], &reads[..]].concat();
    check("erase", Bench::new(&independent(), stops, 1), &arrivals, &ends);
}

/// Die time counts once, every read draws its own current; at any instant.
#[test]
fn die_time_counts_once_and_energy_for_each_read() {
    let mut bench = Bench::new(&independent(), config(), 1);
    bench.at(0, on(0)).at(0, on(1)).at(20_000, read_of(0, 2, 3, 23, 1)).at(200_000, on(0));
    for until in [100, 400, 30_000, 50_400, 52_000, 70_000, 97_000, 150_000] {
        bench.run_until(until);
        let spent = bench.nand.spent(SimTime(until));
        assert_eq!(spent.die_time(), until, "until {until}");
    }
    bench.run();
    let now = bench.events.now();
    let spent = bench.nand.spent(now);
    assert_eq!(spent.die_time(), now.0);
    let drawn = |of: &[[u64; interpulse_flash::parts::power::DRAWS]], draw| {
        of.iter().map(|row| row[draw as usize]).sum::<u64>()
    };
    let both = |draw| drawn(&spent.times, draw) + drawn(&spent.beside, draw);
    assert_eq!((both(Draw::Sense0), both(Draw::Sense2)), (3 * LSB, MSB));
    assert_eq!(both(Draw::Out), 4 * UNITS[1]);
    // From 300 to 95300 one plane or another senses; data that moves meanwhile takes no die time of its own.
    assert_eq!(drawn(&spent.times, Draw::Sense0) + drawn(&spent.times, Draw::Sense2), 95_000 + LSB);
    assert_eq!(drawn(&spent.times, Draw::Out), 2 * UNITS[1]);
}

/// A power cut leaves nothing behind on any plane.
#[test]
fn a_power_cut_ends_all_planes() {
    let mut bench = Bench::new(&independent(), config(), 1);
    bench.at(0, on(0)).at(0, on(1)).at(0, on(0)).run_until(30_000);
    assert!(bench.nand.outage(&mut bench.events, false).is_empty());
    assert_eq!(bench.nand.pending(), 0);
    assert_eq!(bench.nand.spent(bench.events.now()).die_time(), bench.events.now().0);
    let at = bench.events.now().0 + 1_000;
    bench.at(at, on(1)).run();
    assert_eq!(bench.of(3).at, at + READ);
    assert_eq!(bench.nand.spent(bench.events.now()).die_time(), bench.events.now().0);
}

/// Reads per tR of `outstanding` reads of random planes of one die, of `part`, over so many reads.
fn throughput(part: &PartSpec, outstanding: u32, reads: u32) -> f64 {
    let config = NandConfig { ecc_latency: Duration::ZERO, ecc_interval: Duration::ZERO, ..config() };
    let geometry = Geometry::new(1, 1, 1, part);
    let mut events = EventQueue::new(Nand::resources(&geometry));
    let mut nand = Nand::new(geometry, part, config, 1, ResourceId(0));
    for plane in 0..part.planes {
        nand.dies_mut()[0].blocks_mut().set_programmed(plane, BlockId(0), 3);
    }
    let mut rng = Streams::new(7).stream("test.planes", 0);
    let mut next = || read_of(0, rng.below(part.planes.into()) as u32, 0, 0, 1);
    (0..outstanding).for_each(|_| nand.submit(&mut events, next()));
    let mut done = 0;
    while done < reads {
        let (_, timer) = events.next(SimTime(u64::MAX >> 8)).expect("reads are under way");
        nand.on_timer(&mut events, timer.0);
        events.settle();
        while nand.take_ended().is_some() {
            done += 1;
            nand.submit(&mut events, next());
        }
    }
    f64::from(done) * part.read[0].as_ns() as f64 / events.now().0 as f64
}

/// With a bus that takes no time, reads of random planes are the memory interference of Bhandarkar (IEEE Trans. Computers
/// C-24, 1975): `n` processors whose requests take one cycle of one of four modules. Its Markov chain gives 1.75 (2 - 1/4),
/// 2.2692, 2.6210 and 3.2657 busy modules for 2, 3, 4 and 8; 3 standard deviations of 20,000 reads are below 0.02, 5 are allowed.
#[test]
fn random_reads_of_four_planes_are_memory_interference() {
    let fast = PartSpec { bus_rate: 1_000_000_000_000, command_cycles: Duration::ZERO, ..independent() };
    for (outstanding, busy) in [(1, 1.0), (2, 1.75), (3, 2.2692), (4, 2.6210), (8, 3.2657)] {
        let x = throughput(&fast, outstanding, 20_000);
        assert!((x - busy).abs() < 0.035, "{outstanding} outstanding: {x:.4} reads per tR, not {busy}");
    }
}

/// With a real bus, throughput keeps below the bounds of the operational laws: outstanding reads, planes and bus each allow
/// so much. With all planes busy it is within 5 % of what a plane can do whose next command waits for the data of another
/// plane, 3.37 reads per tR; an event simulation of the same station gives 3.32 in the mean of 40 seeds.
#[test]
fn throughput_keeps_to_the_bounds_of_the_closed_network() {
    let (bus, t_r) = ((CMD + UNITS[1]) as f64, LSB as f64);
    for n in [1, 2, 4, 16, 64] {
        let bound = (f64::from(n).min(4.0) * t_r / (t_r + bus)).min(t_r / bus);
        let (with, without) = (throughput(&independent(), n, 4_000), throughput(&part(), n, 4_000));
        assert!(with <= bound * 1.001, "{n} outstanding: {with} over {bound}");
        assert!((without - t_r / (t_r + bus)).abs() < 0.002, "{n} outstanding: {without}");
        if n == 1 {
            assert!((with - bound).abs() < 0.002, "one outstanding: {with}");
        }
        if n == 64 {
            let planes = 4.0 * t_r / (t_r + bus + UNITS[1] as f64);
            assert!((with / planes - 1.0).abs() < 0.05, "{n} outstanding: {with} of {planes}");
        }
    }
    // A slow bus is the limit, whatever the planes do: 4497 B take 112425 ns.
    let slow = PartSpec { bus_rate: 40_000_000, ..independent() };
    let (x, most) = (throughput(&slow, 64, 2_000), t_r / (CMD as f64 + 112_425.0));
    assert!(x <= most * 1.001 && x > 0.99 * most, "{x} of {most}");
}
