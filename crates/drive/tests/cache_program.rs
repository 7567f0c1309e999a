//! Does a drive use cache program? Sequential writes keep dies pulsing whose channels carry less than they could; the drive
//! queues a second program behind the one that pulses only where all dies have one.

use crate::drive_common::{Bench, Cells, closed, filled, mix, of_part, part};
use interpulse_engine::Duration;
use interpulse_flash::command::DieActivity;
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister};
use interpulse_workload::{AddressSpec, SyntheticSpec};

/// Share of the dies' time in pulses under sequential writes to an empty drive, and programs with data loaded ahead.
fn pulsing(program: CacheProgram, depth: u32) -> (f64, u64, u64) {
    // Room for all of it without collection.
    let mut spec = of_part(part(Cells::Tlc, 1, 128, 8), 2, 2, 1);
    if program != CacheProgram::None {
        let pages = spec.geometry.pages_per_program;
        let on_read = CacheOnRead::Lost;
        spec.part.cache = CacheRegister { program, pages, transfer: Duration::ZERO, on_read, reads: false };
        spec.geometry.cache_pages = pages;
    }
    let writes = SyntheticSpec { addresses: AddressSpec::Sequential, ..mix(0.0) };
    let mut b = Bench::new(&spec, filled(&spec, 0.0), &[closed("w", depth, writes)], 1);
    // What the write cache of 4 MiB takes before it is full is not level.
    b.run_requests(3_000);
    let pulses = |b: &mut Bench| {
        b.assert_dies_add_up();
        let dies = b.host.device.nand().dies();
        dies.iter().map(|die| die.usage.uses()[DieActivity::PulseHost as usize]).sum::<u64>()
    };
    let (before, from) = (pulses(&mut b), b.events.now());
    b.run_requests(3_000);
    let time = b.events.now().since(from).as_ns() * b.host.device.nand().dies().len() as u64;
    let share = (pulses(&mut b) - before) as f64 / time as f64;
    let counters = b.host.device.nand().counters;
    b.finish();
    (share, counters.cached_programs, counters.host_programs)
}

#[test]
fn sequential_writes_keep_the_dies_pulsing() {
    // Twelve loops of 50 us after three loads of 11.52 us and 1 us of set-up each, if nothing else is on the channel.
    let alone = 600.0 / (600.0 + 3.0 * 12.52 + 0.2);
    let (without, none, _) = pulsing(CacheProgram::None, 64);
    assert!(without < alone + 1e-3, "{without} of {alone}");
    assert_eq!(none, 0);
    for program in [CacheProgram::Block, CacheProgram::Die] {
        let (with, cached, programs) = pulsing(program, 64);
        // With blocks of eight word lines, one program in eight is the first of another block.
        let first_of_block = if program == CacheProgram::Block { (1.0 - alone) / 8.0 } else { 0.0 };
        assert!(with > 1.0 - 2.0 * first_of_block - 0.01, "{program:?}: {with}");
        assert!(cached as f64 > 0.8 * programs as f64, "{program:?}: {cached} of {programs}");
    }
}
