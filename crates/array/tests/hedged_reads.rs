//! Worked instants of hedged reads: drives of two dies, writes, and one read of a die that programs or is idle.

use crate::array_common::world::World;
use interpulse_engine::{Device, Op};

/// Reads issued twice, those that the second read answered, those that were not issued twice, pages given up, pages read in addition.
fn counters(world: &mut World) -> [u64; 5] {
    world.array.end_window();
    let c = world.array.measured();
    [c.hedged_reads, c.hedges_won, c.hedges_refused, c.hedges_given_up, c.hedge_pages]
}

/// Latency in ns of the read of `page` at 5 ms beside writes of these numbers of pages at these instants, and the counters. The array has
/// these settings, and reads are hedged after `after`.
fn read_beside(
    settings: &[(&str, &str)],
    after: &str,
    writes: &[(u64, u64, u32)],
    page: u64,
) -> (u64, [u64; 5]) {
    let mut world = World::new(&[settings, &[("flow.0.hedge-after", after)]].concat());
    let (before, since): (Vec<_>, Vec<_>) = writes.iter().partition(|(at, ..)| *at < 5_000_000);
    for (at, page, pages) in before {
        world.run(at);
        world.submit(Op::Write, page, pages);
    }
    world.run(5_000_000);
    world.submit(Op::Read, page, 1);
    let mut done = Vec::new();
    for (at, page, pages) in since {
        done.extend(world.run(at));
        world.submit(Op::Write, page, pages);
    }
    done.extend(world.run(20_000_000));
    world.array.audit_contents().expect("no page is stale");
    let reads: Vec<u64> = done.iter().filter(|(op, _)| *op == Op::Read).map(|(_, at)| *at).collect();
    assert_eq!(reads.len(), 1, "it is answered once");
    (reads[0] - 5_000_000, counters(&mut world))
}

/// Latency of a read of an idle drive.
const IDLE: u64 = 96_925;
/// `array.cache-latency`.
const CACHE: u64 = 1_000;
/// Latency of the read behind the program, which pulses for 2 ms.
const BEHIND: u64 = 1_420_299;
const RAID5: &[(&str, &str)] = &[];
/// Programs of die 0 of drive 0 and of die 1 of drive 3 from 4.3 ms on: see `fail_fast.rs`. Row 4 is on die 0 of every drive.
const BUSY: &[(u64, u64, u32)] = &[(1_000_000, 4, 4), (4_000_000, 0, 4)];

#[test]
fn a_read_that_completes_at_its_time_is_not_hedged_and_one_later_is() {
    assert_eq!(read_beside(RAID5, "96925ns", &[], 16), (IDLE, [0, 0, 0, 0, 0]));
    // The first read answers 1 ns after the second has been issued.
    assert_eq!(read_beside(RAID5, "96924ns", &[], 16), (IDLE, [1, 0, 0, 0, 3]));
}

/// The three other drives are idle: read at 5.2 ms, they supply the page 200 us + 96.925 us + 1 us after the first read.
#[test]
fn the_second_read_is_issued_at_its_time_and_answers_first() {
    for (after, ns) in [("200us", 200_000), ("1ns", 1), ("700us", 700_000)] {
        assert_eq!(read_beside(RAID5, after, BUSY, 16), (ns + IDLE + CACHE, [1, 1, 0, 0, 3]), "{after}");
    }
}

/// Pages 0 to 3 program die 0 of drives 0 and 3 at the same time: the second read waits for drive 3, and the first read is answered
/// earlier by what the host needs for a computed page.
#[test]
fn the_first_read_answers_where_another_drive_is_busy_too() {
    assert_eq!(read_beside(RAID5, "200us", &[(4_000_000, 0, 4)], 16), (BEHIND, [1, 0, 0, 0, 3]));
}

/// Page 20 is in the row of page 16. Its write at 5.1 ms needs pages of other drives to compute parity, so that the row is in use at
/// 5.2 ms; at 5.25 ms it arrives while the three other pages are read, which can then no longer replace the first read.
#[test]
fn a_row_that_is_being_written_is_not_reconstructed() {
    let (plain, _) = read_beside(RAID5, "1s", BUSY, 16);
    let beside = |at| read_beside(RAID5, "200us", &[BUSY, &[(at, 20, 1)]].concat(), 16);
    assert_eq!(beside(5_100_000), (plain, [0, 0, 1, 0, 0]));
    assert_eq!(beside(5_250_000), (plain, [1, 0, 0, 1, 3]));
}

/// RAID-10 of three drives: pages 0 to 3 are on drives 0 and 1, pages 4 to 7 on drives 2 and 0. The writes of pages 4 to 7 program drives
/// 2 and 0 on die 0; the read of page 3, in row 3 on die 0, begins on drive 0.
#[test]
fn a_mirrored_read_is_issued_to_the_other_copy() {
    let raid10: &[(&str, &str)] = &[("array.level", "raid10"), ("array.drives", "3")];
    let write: &[(u64, u64, u32)] = &[(4_000_000, 4, 4)];
    let (plain, none) = read_beside(raid10, "1s", write, 3);
    assert!(plain > 1_000_000 && none == [0; 5], "{plain} ns");
    assert_eq!(read_beside(raid10, "200us", write, 3), (200_000 + IDLE, [1, 1, 0, 0, 1]));
}
