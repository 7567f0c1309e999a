//! Duration of undisturbed reads.

use crate::common::*;
use interpulse_engine::Duration;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::parts::{PartSpec, ReadTransfer};

/// Command, tR of the page type, transfer of the units with their share of the parity, decode of the last
/// codeword, which enters an interval after the one before it.
#[test]
fn a_read_alone() {
    // (submitted, page, units, end)
    let cases = [
        // 1000 + 300 + 50000 + 4497 + 5000
        (1_000, 0, 1, 60_797),
        // 300 + 60000 + 8993 + 700 + 5000
        (0, 1, 2, 74_993),
        // 300 + 75000 + 17986 + 3 * 700 + 5000
        (0, 2, 4, 100_386),
        // Page 3 is the least significant one of word line 1: 300 + 50000 + 13490 + 2 * 700 + 5000
        (0, 3, 3, 70_190),
        // Page 23 is the last one of the block: 300 + 75000 + 4497 + 5000
        (0, 23, 1, 84_797),
        // Nothing to move: 300 + 50000 + 5000
        (0, 0, 0, 55_300),
    ];
    for (at, page, units, end) in cases {
        let bench = Bench::new(&part(), config(), 1);
        check("a read alone", bench, &[(at, read_of(0, 0, 0, page, units))], &[end]);
    }
}

/// What moves is what the part says, whatever is decoded; nothing is moved for nothing.
#[test]
fn a_read_moves_what_the_part_says() {
    // Bytes of one unit and of three; a page of 16384 has 1602 of parity.
    let cases = [
        (ReadTransfer::Data, 4_096, 12_288),
        (ReadTransfer::Codewords, 4_497, 13_490),
        (ReadTransfer::Page, 16_384, 16_384),
        (ReadTransfer::PageAndParity, 17_986, 17_986),
    ];
    for (read_transfer, one, three) in cases {
        let part = PartSpec { read_transfer, ..part() };
        for (units, moves, decoded) in [(0, 0, 0), (1, one, 1), (3, three, 3)] {
            let bench = Bench::new(&part, config(), 1);
            let decode = DECODE + INTERVAL * (u64::max(decoded, 1) - 1);
            let done =
                check("moves", bench, &[(0, read_of(0, 0, 0, 0, units))], &[CMD + LSB + moves + decode]);
            assert_eq!(done.nand.counters.bus_time, CMD + moves, "{read_transfer:?}");
        }
        // A program loads pages with their parity all the same.
        check("a program", Bench::new(&part, config(), 1), &[(0, program(0))], &[PROGRAM]);
    }
}

/// The second read takes the die when the first one's data has moved; decoding overlaps.
#[test]
fn reads_follow_each_other_on_a_die() {
    let ends = [READ, READ_DIE + READ, 2 * READ_DIE + READ];
    assert_eq!(ends, [59_797, 114_594, 169_391]);
    check(
        "three reads",
        Bench::new(&part(), config(), 1),
        &[(0, read(0)), (0, read(0)), (9, read(0))],
        &ends,
    );
}

/// A decoder slower than the die delays the reads behind it, but not the die.
#[test]
fn codewords_enter_the_decoder_one_after_the_other() {
    let slow = NandConfig {
        ecc_latency: Duration::from_ns(65_000),
        ecc_interval: Duration::from_ns(60_000),
        ..config()
    };
    let arrivals = [(0, read(0)), (0, read(0)), (0, read_of(0, 0, 0, 0, 2))];
    // The first enters at 54797 and leaves at 119797; the decoder takes the next codeword at 114797.
    // The second is there at 109594, enters at 114797, leaves at 179797; next codeword at 174797.
    // The third is there at 109594 + 300 + 50000 + 8993 = 168887; its two codewords enter at 174797 and
    // 234797; the last leaves at 299797.
    let ends = [119_797, 179_797, 299_797];
    let bench = check("slow decoder", Bench::new(&part(), slow, 1), &arrivals, &ends);
    assert_eq!(bench.of(1).txn.mark.0, 109_594, "the decoder's line is not the die's time");
    assert_eq!(bench.of(2).txn.mark.0, 168_887);
}

#[test]
fn without_ecc_time_a_read_ends_as_its_data_has_moved() {
    let none = NandConfig { ecc_latency: Duration::ZERO, ecc_interval: Duration::ZERO, ..config() };
    let arrivals = [(0, read(0)), (0, read_of(0, 0, 0, 0, 4))];
    check("no ecc", Bench::new(&part(), none, 1), &arrivals, &[READ_DIE, READ_DIE + 300 + 50_000 + 17_986]);
}

/// A transfer lasts whole nanoseconds, rounded up once: 4497 B at 1.2 GB/s are 3747.5 ns, 17986 B 14988.3 ns.
#[test]
fn transfers_are_rounded_up_once() {
    let fast = PartSpec { bus_rate: 1_200_000_000, ..part() };
    let arrivals = [(0, read(0)), (1_000_000, read_of(0, 0, 0, 0, 4)), (2_000_000, program(0))];
    let ends = [
        300 + LSB + 3_748 + DECODE,
        1_000_300 + LSB + 14_989 + 3 * INTERVAL + DECODE,
        2_000_300 + 3 * (1_000 + 14_989) + PULSES,
    ];
    check("rounding", Bench::new(&fast, config(), 1), &arrivals, &ends);
}
