//! Consecutive programs on the dies of a channel: with cache program the channel and the dies overlap, and the slower of both
//! sets the rate.

use crate::queueing_oracles::station::{LOADS, behaving};
use interpulse_engine::{Bytes, Duration, EventQueue, ResourceId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::nand::txn::{Kind, Txn};
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister, PartSpec, TrainSpec};
use interpulse_flash::suspend::SuspendPolicy;

const EACH: u32 = 400;

/// Mean time per program of [`EACH`] programs on each die, in us.
fn us_per_round(part: &PartSpec, dies: u32) -> f64 {
    let geometry = Geometry::new(1, dies, 1, part);
    let mut events = EventQueue::new(Nand::resources(&geometry));
    let config = behaving(Policy::Fifo, SuspendPolicy::NEVER);
    let mut nand = Nand::new(geometry, part, config, 1, ResourceId(0));
    for _ in 0..EACH {
        (0..dies).for_each(|die| nand.submit(&mut events, Txn::new(Kind::HostProgram, DieId(die))));
    }
    while let Some((_, resource)) = events.next(SimTime(u64::MAX >> 8)) {
        nand.on_timer(&mut events, resource.0);
        events.settle();
        while nand.take_ended().is_some() {}
    }
    assert_eq!((nand.pending(), nand.counters.host_programs), (0, u64::from(EACH * dies)));
    events.now().as_ns() as f64 / f64::from(EACH) / 1e3
}

#[test]
fn the_slower_of_channel_and_dies_sets_the_rate() {
    // A page of 16 KiB at a byte per nanosecond; pulses of 100 us.
    let (load, pulses, over) = (16.384, 100.0, 2.0);
    let transfer = Duration::from_us(2);
    let cache = CacheRegister {
        program: CacheProgram::Block,
        pages: 1,
        transfer,
        on_read: CacheOnRead::Lost,
        reads: false,
    };
    let program = TrainSpec { loops: 1, pulse: Duration::from_us(100), ..LOADS[0].part().program };
    let page_size = Bytes::kib(16);
    let plain = PartSpec { page_size, bus_rate: 1_000_000_000, program, ..LOADS[0].part() };
    let cached = PartSpec { cache, ..plain.clone() };
    for dies in 1..=12 {
        let bound = f64::max(f64::from(dies) * load, pulses + over);
        let ours = us_per_round(&cached, dies);
        // All but the first load and the last pulses overlap.
        let most = bound + (f64::from(dies) * load + pulses + over) / f64::from(EACH);
        assert!((bound - 1e-6..=most).contains(&ours), "{dies} dies: {ours} us, {bound} by the bounds");
        // Without cache program there is no overlap.
        let bound = f64::max(f64::from(dies) * load, pulses + load);
        let without = us_per_round(&plain, dies);
        assert!(without > bound - 1e-6, "{dies} dies: {without} us, {bound} by the bounds");
        if f64::from(dies) * load < pulses {
            assert!(without - ours > 0.8 * (load - over), "{dies} dies: {without} us without, {ours} with");
        }
    }
}
