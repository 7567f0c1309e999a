//! Garbage collection of blocks with few programs each.

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use interpulse_drive::ftl::page::gc::victim::ThresholdBase;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Device};

/// A lane whose blocks take four programs, more than the spare space of a block.
fn four_programs_a_block(planes: u32) -> DriveSpec {
    let mut part = part(Cells::Tlc, planes, 384, 16);
    part.pages_per_block = 12;
    let mut spec = of_part(part, 1, 1, 1);
    spec.ftl.multi_plane = planes;
    spec.cache.size = Bytes::kib(512);
    spec.ftl.over_provisioning = 0.0542;
    spec.ftl.gc_hard = 0.005;
    spec.ftl.threshold_base = ThresholdBase::Spare;
    spec
}

/// Units that a victim leaves over fill the next program: padding them would take what each collection gains, and writes
/// would wait for ever.
#[test]
fn steady_writes_advance_where_a_program_is_larger_than_the_spare_of_a_block() {
    for planes in [1, 2] {
        let spec = four_programs_a_block(planes);
        let mut b = Bench::new(&spec, preconditioned(&spec, 1.0, 2.0, 1), &[closed("w", 16, mix(0.0))], 1);
        let mut steps = 0;
        while b.host.device.completed() < 20_000 {
            assert!(b.step(b.events.horizon()), "{}", b.host.device.diagnosis(&b.events));
            steps += 1;
            assert!(steps < 3_000_000, "{} writes after {steps} timers", b.host.device.completed());
        }
        b.finish();
    }
}
