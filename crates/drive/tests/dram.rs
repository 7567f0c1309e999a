//! Does the bus of the DRAM add the time of its commands to each access, and bound the rate of accesses?

use crate::drive_common::{Bench, closed, filled, little, mix};
use interpulse_drive::dram::spec::DramKind;
use interpulse_drive::spec::{DramSpec, DriveSpec};
use interpulse_engine::Duration;
use interpulse_workload::{FlowSpec, SyntheticSpec};

const REQUESTS: u64 = 3000;

/// 8 data lines of DDR3-1600: bursts of 8 bytes, 5 ns each; rows of 1 KiB.
fn narrow() -> DramSpec {
    DramSpec { width: 8, row: interpulse_engine::Bytes::kib(1), ..DramSpec::of(DramKind::Ddr3At1600) }
}

/// End of so many requests of 4 KiB, and the time for which the bus was busy.
fn ends(dram: Option<DramSpec>, depth: u32, load: SyntheticSpec) -> [u64; 2] {
    let spec = DriveSpec { dram, ..little() };
    let flow = FlowSpec { limit: Some(REQUESTS), ..closed("f", depth, load) };
    let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[flow], 1);
    bench.run_out();
    let ends = bench.events.now().as_ns();
    bench.finish();
    [ends, bench.host.device.counters.dram_busy_time]
}

/// Reads of data that was never written need no flash: four rows, 512 bursts.
#[test]
fn a_read_takes_the_commands_of_its_rows_longer() {
    let (transfer, close) = (4 * (14 + 14) + 3 * 14 + 2_560, 14);
    assert_eq!(narrow().transfer(4_096), Duration::from_ns(transfer));
    let ([without, none], [with, busy]) = (ends(None, 1, mix(1.0)), ends(Some(narrow()), 1, mix(1.0)));
    assert_eq!(none, 0);
    assert_eq!(with - without, REQUESTS * transfer);
    assert_eq!(busy, REQUESTS * (transfer + close));
}

#[test]
fn the_bus_bounds_the_rate_of_reads_and_writes() {
    let slow = DramSpec { column: Duration::from_us(1), ..narrow() };
    let cycle = slow.cycle(4_096).as_ns();
    for (load, crossings) in [(mix(1.0), 1), (mix(0.0), 2)] {
        let [ends, busy] = ends(Some(slow), 16, load);
        assert_eq!(busy, REQUESTS * crossings * cycle);
        assert!(
            (busy - cycle..busy + busy / 20).contains(&ends),
            "{crossings} crossings: {ends}, busy {busy}"
        );
    }
}
