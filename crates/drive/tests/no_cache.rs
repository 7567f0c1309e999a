//! Does a drive without a write cache complete writes when they are programmed, with the buffers of its programs alone?

use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part};
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_engine::Bytes;
use interpulse_workload::{AddressSpec, FlowSpec, HotCold, SyntheticSpec};

const STATIC: Allocation = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);

fn without(mut spec: DriveSpec) -> DriveSpec {
    (spec.cache.size, spec.cache.protected) = (Bytes(0), false);
    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    spec.check().expect("a legal drive");
    spec
}

fn through(mut spec: DriveSpec) -> DriveSpec {
    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    spec
}

fn limited(flow: FlowSpec, requests: u64) -> FlowSpec {
    FlowSpec { limit: Some(requests), ..flow }
}

fn ran(spec: &DriveSpec, flow: FlowSpec) -> Bench {
    let mut b = Bench::new(spec, filled(spec, 1.0), &[flow], 1);
    b.run_out();
    b.finish();
    b
}

/// Alone a write takes what it takes where a cache only buffers it.
#[test]
fn a_write_alone_takes_its_program() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = little();
        spec.ftl.allocation = allocation;
        let latency = |spec: &DriveSpec| {
            ran(spec, limited(closed("w", 1, mix(0.0)), 6)).host.window.flows[0].write.sum_ns()
        };
        assert_eq!(latency(&without(spec.clone())), latency(&through(spec)));
    }
}

/// Seven writes on one die: the first is programmed alone, and the six that arrive meanwhile fill the next program.
#[test]
fn units_that_arrive_while_a_lane_programs_share_the_next_program() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = of_part(part(Cells::Tlc, 1, 24, 8), 1, 1, 1);
        spec.ftl.allocation = allocation;
        let programs = |spec: &DriveSpec| {
            let b = ran(spec, limited(closed("w", 7, mix(0.0)), 7));
            (b.host.device.nand().counters.host_programs, b.host.device.ftl_counters().padding_units)
        };
        assert_eq!(programs(&without(spec.clone())), (2, 5));
        assert_eq!(programs(&through(spec)), (7, 35), "in a cache every write is a program of its own");
    }
}

/// The buffers are those of one program in flight on each lane and of one in formation in each list.
#[test]
fn a_drive_has_as_many_buffers_as_its_programs_need() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = without(of_part(part(Cells::Tlc, 2, 24, 8), 2, 1, 1));
        spec.ftl.allocation = allocation;
        let layout = spec.layout().unwrap();
        let lists = if allocation == Allocation::Dynamic { 1 } else { layout.lanes };
        let slots = layout.units_per_program * (layout.lanes + lists);
        let mut b = Bench::new(&spec, filled(&spec, 1.0), &[limited(closed("w", 256, mix(0.0)), 3_000)], 1);
        assert_eq!(b.host.device.cache_free(), slots as usize);
        b.run_out();
        b.finish();
        assert!(b.host.device.counters.cache_stalls > 0, "256 writes are more than the buffers hold");
        assert_eq!(b.host.device.cache_free(), slots as usize);
    }
}

/// Writes to few units are all programmed, and reads find the newest version (the audit follows every unit).
#[test]
fn nothing_is_overwritten_in_a_buffer() {
    for allocation in [Allocation::Dynamic, STATIC] {
        let mut spec = without(little());
        spec.ftl.allocation = allocation;
        let few = AddressSpec::HotCold(HotCold { hot_share: 0.001, hot_traffic: 1.0 });
        let b = ran(&spec, limited(closed("f", 16, SyntheticSpec { addresses: few, ..mix(0.4) }), 5_000));
        let written = b.host.window.counters.written_bytes / 4096;
        assert_eq!(
            (b.host.device.counters.cache_overwrites, b.host.device.ftl_counters().host_units),
            (0, written)
        );
        assert!(b.host.device.counters.cache_read_hits > 100, "reads find data that is being programmed");
    }
}

/// A drive without a cache has nothing to save on capacitors, and a cache is not larger than its drive.
#[test]
fn what_does_not_go_together_is_refused() {
    let spec = little();
    let capacity = spec.capacity().usable;
    let larger = DriveSpec {
        cache: interpulse_drive::spec::CacheSpec { size: Bytes(capacity.get() + 4096), ..spec.cache },
        ..spec
    };
    let why = larger.check_scale().unwrap_err();
    assert_eq!(why.keys, ["cache.size"]);
    assert!(
        why.message.contains(&format!("larger than the drive's capacity of {capacity}")),
        "{}",
        why.message
    );
}
