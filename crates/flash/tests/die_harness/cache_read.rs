//! Cache read: data of a read moves out of the cache register while the next read is sensed.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::parts::{CacheRegister, PartSpec};
use interpulse_flash::suspend::Scheme;

fn cached() -> PartSpec {
    PartSpec { cache: CacheRegister { reads: true, ..CacheRegister::NONE }, ..part() }
}

#[test]
fn the_next_read_is_sensed_while_data_moves() {
    let reads = [(0, read(0)), (0, read(0)), (0, read(0))];
    // Sensed at 50300. The command of the next comes before the data: 50600, sensed at 100600; data from 50600 to 55097.
    let period = CMD + LSB;
    let ends = [1, 2, 3].map(|k| k * period + UNITS[1] + DECODE + if k < 3 { CMD } else { 0 });
    let bench = check("three reads", Bench::new(&cached(), config(), 1), &reads, &ends);
    assert_eq!(bench.nand.counters.cached_reads, 2);
    for owner in 0..3 {
        let done = bench.of(owner);
        assert_eq!(done.waited() + DECODE, done.time());
    }
    // The second waits for the sensing of the first; its own time is its sensing, its command and its data.
    assert_eq!(bench.of(1).waits(), [period, 0, 0, 0, 0, 0, 2 * CMD + UNITS[1], LSB]);
    // One after the other without.
    let ends = [1, 2, 3].map(|k| k * READ_DIE + DECODE);
    check("without", Bench::new(&part(), config(), 1), &reads, &ends);
}

/// Where moving takes longer than sensing, the next read waits for the register with its data sensed.
#[test]
fn sensed_data_waits_for_the_register() {
    let fast = PartSpec { read: vec![Duration::from_ns(5_000); 3], ..cached() };
    let whole = read_of(0, 0, 0, 0, 4);
    let reads = [(0, whole), (0, whole), (0, whole)];
    // Sensed at 5300; command to 5600; data to 23586, sensed at 10600. Command to 23886; data to 41872, sensed at
    // 28886. Nothing follows: data to 59858.
    // Four codewords enter the decoder one after the other.
    let ends = [23_586, 41_872, 59_858].map(|moved| moved + 3 * INTERVAL + DECODE);
    let bench = check("four units", Bench::new(&fast, config(), 1), &reads, &ends);
    assert_eq!(bench.nand.counters.bus_time, 3 * (CMD + UNITS[4]));
}

/// Reads in a suspension overlap, too; the program resumes when the last has moved.
#[test]
fn reads_in_a_suspension_overlap() {
    let stops = suspending(Scheme::LoopBoundary, &part());
    let arrivals = [(0, program(0)), (100_000, read(0)), (100_000, read(0))];
    let entered = PULSES_AT + LOOP + 20_000;
    let last = entered + 2 * (CMD + LSB) + UNITS[1];
    let ends = [last + 10_000 + 3 * LOOP, entered + 2 * CMD + LSB + UNITS[1] + DECODE, last + DECODE];
    check("suspended", Bench::new(&cached(), stops, 1), &arrivals, &ends);
}

/// What comes after the reads finds the register empty.
#[test]
fn a_program_after_reads_waits_for_their_data() {
    let arrivals = [(0, read(0)), (0, read(0)), (0, program(0))];
    let last = 2 * (CMD + LSB) + UNITS[1];
    let ends = [2 * CMD + LSB + UNITS[1] + DECODE, last + DECODE, last + PROGRAM];
    check("program", Bench::new(&cached(), config(), 1), &arrivals, &ends);
}

/// Planes sensed together give out their data one after the other, while the next of them are sensed.
#[test]
fn planes_sensed_together() {
    let config = NandConfig { multi_plane_reads: true, ..config() };
    let of = |plane| read_of(0, plane, 0, 0, 1);
    // The first alone; then, at 50300, two commands and the sensing of two planes to 100900.
    let arrivals = [(0, of(0)), (0, of(1)), (0, of(2))];
    let sensed = CMD + LSB;
    let both = sensed + 2 * CMD + LSB;
    let ends = [sensed + 2 * CMD + UNITS[1] + DECODE, both + UNITS[1] + DECODE, both + 2 * UNITS[1] + DECODE];
    check("planes", Bench::new(&cached(), config, 1), &arrivals, &ends);
}
