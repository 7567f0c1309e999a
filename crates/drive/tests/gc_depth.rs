//! How much of a victim is in the queues of its die at a time is what `ftl.gc-depth` says.

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use interpulse_engine::Device;

/// The most transactions pending at any instant of a run of single writes on a full one-lane drive.
fn most_pending(depth: u32) -> usize {
    let mut spec = of_part(part(Cells::Slc, 1, 40, 4), 1, 1, 1);
    spec.ftl.gc_depth = depth;
    spec.ftl.over_provisioning = 0.25;
    let mut b = Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 1), &[closed("w", 1, mix(0.0))], 1);
    let mut most = 0;
    while b.host.device.completed() < 3_000 {
        assert!(b.step(b.events.horizon()), "{}", b.host.device.diagnosis(&b.events));
        most = most.max(b.host.device.nand().pending());
    }
    b.finish();
    most
}

#[test]
fn a_lane_has_so_many_programs_and_twice_as_many_reads_under_way() {
    // A program of host data and an erase come on top.
    let bound = |depth: usize| 3 * depth + 2;
    let (two, eight) = (most_pending(2), most_pending(8));
    assert!(two <= bound(2), "{two}");
    assert!(eight > bound(2) && eight <= bound(8), "{eight}");
}
