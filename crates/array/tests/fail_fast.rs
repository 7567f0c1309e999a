//! Worked instants of reads that fail fast: four drives of two dies, one write, and one read of a die that programs it.

use crate::array_common::world::World;
use interpulse_engine::{Device, Op};

/// Reads that failed fast, that waited for the stripe cache, and pages whose reconstruction was abandoned.
fn counters(world: &mut World) -> [u64; 3] {
    world.array.end_window();
    let c = world.array.measured();
    [c.fast_failed_reads, c.fast_failed_waits, c.abandoned_reconstructions]
}

/// Latency in ns of a read of page 16 (row 4 of drive 0) at 5 ms, after writes of four pages at these instants, and the counters.
fn read_after(writes: &[(u64, u64)], what: &str) -> (u64, [u64; 3]) {
    let mut world = World::new(&[("array.fail-fast", "true"), ("array.fail-fast-for", what)]);
    for &(at, page) in writes {
        world.run(at);
        world.submit(Op::Write, page, 4);
    }
    world.run(5_000_000);
    world.submit(Op::Read, 16, 1);
    let done = world.run(20_000_000);
    let read = done.iter().find(|(op, _)| *op == Op::Read);
    let at = read.expect("it has ended").1;
    (at - 5_000_000, counters(&mut world))
}

/// Latency of the read on an idle drive.
const IDLE: u64 = 96_925;
/// Command and completion of a read that fails fast, on the link; the firmware takes no time.
const FAILS: u64 = 24;
/// `array.cache-latency`.
const CACHE: u64 = 1_000;
/// Latency of the read behind the program, which pulses for 2 ms.
const BEHIND: u64 = 1_420_299;

/// The writes of pages 4 to 7 program die 0 of drives 1 and 3 until 3.3 ms, so that those of pages 0 to 3 program die 0 of drive 0
/// and die 1 of drive 3 from 4.3 ms on. Row 4 is on die 0 of every drive: three are free.
#[test]
fn a_read_behind_a_program_of_the_host_is_reconstructed_from_free_drives() {
    let writes = [(1_000_000, 4), (4_000_000, 0)];
    assert_eq!(read_after(&[], "any-operation"), (IDLE, [0, 0, 0]));
    assert_eq!(read_after(&writes, "any-operation"), (FAILS + IDLE + CACHE, [1, 0, 0]));
    let (waits, counters) = read_after(&writes, "collection");
    assert!(waits > 1_000_000 && counters == [0, 0, 0], "{waits} ns, {counters:?}");
}

/// Pages 0 to 3 program die 0 of drives 0 and 3: the page of drive 3 fails fast, too, and the read waits for the program of drive 0.
#[test]
fn a_read_waits_where_another_drive_is_busy_too() {
    let write = [(4_000_000, 0)];
    assert_eq!(read_after(&write, "collection"), (BEHIND, [0, 0, 0]));
    assert_eq!(read_after(&write, "any-operation"), (BEHIND + CACHE, [1, 0, 1]));
}
