//! Does data stay where its placement handle puts it, and does that cost what theory says?
//!
//! The formulas are limits of many blocks. As in `ftl_oracles.rs` twice the result of a drive of `2 B` blocks less that of one
//! of `B` cancels a deviation of order `1 / B`, the seeds give a confidence interval, and all comparisons of the file together
//! fail by chance with probability 1e-6.

use crate::drive_common::{Bench, closed, filled};
use crate::ftl_common::BLOCK;
use crate::ftl_common::drive::spec;
use interpulse_drive::ftl::page::gc::victim::GcPolicy;
use interpulse_drive::ftl::page::mapping::table::Map;
use interpulse_drive::ftl::page::placement::stripe::{Allocation, Axis};
use interpulse_drive::ftl::page::placement::{Fdp, PlacementPolicy, Streams};
use interpulse_drive::numbers::{Lpn, SuperBlock};
use interpulse_drive::spec::DriveSpec;
use interpulse_drive::{HandleCounters, PlacementCounters};
use interpulse_engine::{Bytes, Device, Op, Request, Tag};
use interpulse_oracle::stats::{Interval, confidence_interval};
use interpulse_oracle::write_amplification::{fifo_classes, fifo_uniform, greedy_uniform, hot_and_cold};
use interpulse_workload::{AddressSpec, Arrivals, FlowSpec, SyntheticPacing, SyntheticSpec};

/// The probability that any comparison of this file fails although everything is right.
const FAMILY_ERROR: f64 = 1e-6;
/// Comparisons with formulas in this file.
const COMPARISONS: usize = 5;
/// Share of the capacity that the hot class has.
const HOT: f64 = 0.2;

fn fdp(handles: u32, persistently_isolated: &[u32]) -> PlacementPolicy {
    PlacementPolicy::Fdp(Fdp { handles, persistently_isolated: persistently_isolated.to_vec(), groups: 1 })
}

/// A flow of 4 KiB writes to a part of the drive.
fn writes(name: &str, from: f64, to: f64, addresses: AddressSpec, handle: Option<u8>) -> FlowSpec {
    let mix =
        SyntheticSpec { read_share: 0.0, write_share: 1.0, from, to, addresses, ..SyntheticSpec::default() };
    FlowSpec { handle, ..closed(name, 16, mix) }
}

/// Counters of the next `requests` requests of a drive.
fn window(bench: &mut Bench, requests: u64) -> (PlacementCounters, f64) {
    let before = (bench.host.device.placement().cloned(), bench.host.device.ftl_counters());
    bench.run_requests(requests);
    let ftl = bench.host.device.ftl_counters().since(&before.1);
    let placement = bench.host.device.placement().zip(before.0).map(|(after, before)| after.since(&before));
    (placement.unwrap_or_default(), ftl.write_amplification().unwrap())
}

#[test]
fn units_belong_to_the_handle_of_their_flow() {
    for placement in
        [fdp(3, &[]), fdp(3, &[2]), fdp(3, &[0, 1, 2]), PlacementPolicy::Streams(Streams { streams: 2 })]
    {
        let mut spec = spec(2, 80, 0.05);
        spec.ftl.placement = placement;
        let thirds = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        let flow = |k: u8| {
            let k_th = usize::from(k);
            writes(
                &format!("f{k}"),
                thirds[k_th],
                thirds[k_th + 1],
                AddressSpec::Uniform,
                (k > 0).then_some(k),
            )
        };
        let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[0, 1, 2].map(flow), 1);
        bench.run_requests(40_000);
        bench.finish();
        let units = bench.host.device.logical_units();
        let mut seen = [0; 3];
        for lpn in Lpn::first(units) {
            let Some(handle) = bench.host.device.handle_of(lpn) else { continue };
            // The third that a unit is in decides; borders are rounded to units.
            let at = 3.0 * (f64::from(lpn.0) + 0.5) / f64::from(units);
            assert!((at - f64::from(handle) - 0.5).abs() < 0.5 + 1e-2, "unit {lpn} of handle {handle}");
            seen[usize::from(handle)] += 1;
        }
        assert!(seen.iter().all(|&n| n > units / 4), "{seen:?} of {units}");
        let placement = bench.host.device.placement().unwrap();
        assert!(
            placement.handles.iter().all(|of| of.host_units > 5000 && of.relocated_units > 0),
            "{placement:?}"
        );
        assert!(placement.events.media_reallocated > 10);
    }
}

/// An arrival of an open flow has no completion that submits it.
#[test]
fn requests_of_an_open_flow_name_its_handle() {
    let mut spec = spec(2, 80, 0.05);
    spec.ftl.placement = fdp(2, &[]);
    let pacing = SyntheticPacing::Open { rate_per_s: 2000.0, arrivals: Arrivals::Poisson };
    let mix = SyntheticSpec { read_share: 0.0, write_share: 1.0, pacing, ..SyntheticSpec::default() };
    let flow = FlowSpec { handle: Some(1), ..FlowSpec::synthetic("open", mix) };
    let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[flow], 1);
    bench.run_requests(2000);
    bench.finish();
    let placement = bench.host.device.placement().unwrap();
    assert_eq!(placement.handles[0].host_units, 0);
    assert!(placement.handles[1].host_units > 1000, "{placement:?}");
}

#[test]
fn a_write_that_names_another_handle_leaves_the_dirty_version_alone() {
    let mut spec = spec(1, 40, 0.1);
    spec.ftl.placement = fdp(2, &[]);
    spec.ftl.over_provisioning = 0.6;
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[], 1);
    let write = |handle| Request { handle, ..Request::new(Op::Write, 0, 8) };
    for handle in [0, 1, 1] {
        bench.host.submit(&mut bench.events, 0, Tag(9), write(handle));
    }
    bench.run_out();
    bench.host.submit(&mut bench.events, 0, Tag(9), Request::FLUSH);
    bench.finish();
    let placement = bench.host.device.placement().unwrap();
    let host = |handle: usize| placement.handles[handle].host_units;
    assert_eq!(
        (host(0), host(1)),
        (1, 1),
        "the third write replaces the second, which is dirty on the same handle"
    );
    assert_eq!(bench.host.device.handle_of(Lpn(0)), Some(1));
    assert_eq!(bench.host.device.handle_of(Lpn(1)), Some(0), "what was there before belongs to handle 0");
}

/// Write amplification by handle and of the drive, with a tenant on three quarters and one on the rest.
fn two_tenants(placement: PlacementPolicy, of_rest: AddressSpec) -> (Vec<f64>, f64) {
    let mut spec = spec(2, 120, 0.05);
    spec.ftl.placement = placement;
    let handle = (spec.ftl.placement.handles() > 0).then_some(1);
    let flows = [
        writes("rest", 0.75, 1.0, of_rest, None),
        writes("circular", 0.0, 0.75, AddressSpec::Sequential, handle),
    ];
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, 1);
    let units = u64::from(bench.host.device.logical_units());
    bench.run_requests(5 * units);
    let (placement, total) = window(&mut bench, 3 * units);
    bench.finish();
    (placement.handles.iter().filter_map(HandleCounters::write_amplification).collect(), total)
}

#[test]
fn separable_streams_have_no_write_amplification() {
    // Both are circular, and data of the first lives three times as long.
    let (_, mixed) = two_tenants(PlacementPolicy::None, AddressSpec::Sequential);
    assert!(mixed > 1.1, "{mixed} without handles");
    for placement in [fdp(2, &[]), fdp(2, &[0, 1]), PlacementPolicy::Streams(Streams { streams: 1 })] {
        let (by_handle, total) = two_tenants(placement, AddressSpec::Sequential);
        assert!(
            by_handle.iter().chain([&total]).all(|of| (1.0..=1.02).contains(of)),
            "{by_handle:?}, {total}"
        );
    }
}

#[test]
fn a_circular_tenant_costs_less_apart_from_a_random_one() {
    let (_, mixed) = two_tenants(PlacementPolicy::None, AddressSpec::Uniform);
    for isolated in [&[][..], &[0, 1]] {
        let (by_handle, total) = two_tenants(fdp(2, isolated), AddressSpec::Uniform);
        // Greedy takes the block that the circle is about to overwrite once it is emptier than all blocks of the other.
        assert!(by_handle[1] < by_handle[0] && total < mixed, "{by_handle:?}, {total} and mixed {mixed}");
    }
}

/// What two classes of uniform writes did in a window: by class, the cold one first.
#[derive(Clone, Copy, Default)]
struct Classes {
    counted: [HandleCounters; 2],
    total: f64,
    /// Valid units, and units of blocks with data, summed over the choices of victims.
    valid: [f64; 2],
    held: [f64; 2],
}

impl Classes {
    fn run(policy: GcPolicy, placement: PlacementPolicy, blocks: u32, seed: u64) -> Classes {
        let mut spec = spec(1, blocks, 0.05);
        (spec.ftl.gc, spec.ftl.placement) = (policy, placement);
        // A smaller cache: what it holds is valid nowhere.
        spec.cache.size = Bytes::kib(64);
        let handle = (spec.ftl.placement.handles() > 0).then_some(1);
        let flows = [
            writes("cold", HOT, 1.0, AddressSpec::Uniform, None),
            writes("hot", 0.0, HOT, AddressSpec::Uniform, handle),
        ];
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &flows, seed);
        let units = u64::from(bench.host.device.logical_units());
        bench.run_requests(5 * units);
        let before = (bench.host.device.placement().cloned(), bench.host.device.ftl_counters());
        let mut of = Classes::default();
        let (end, mut runs) = (bench.host.device.completed() + 6 * units, before.1.gc_runs);
        while bench.host.device.completed() < end {
            bench.step(bench.events.horizon());
            if bench.host.device.ftl_counters().gc_runs != runs {
                runs = bench.host.device.ftl_counters().gc_runs;
                of.look(&bench);
            }
        }
        of.total = bench.host.device.ftl_counters().since(&before.1).write_amplification().unwrap();
        if let (Some(after), Some(before)) = (bench.host.device.placement(), before.0) {
            of.counted.copy_from_slice(&after.since(&before).handles);
        }
        bench.finish();
        of
    }

    /// Adds the occupancy at the choice of a victim. Of blocks being emptied only the newest counts, the one with the most
    /// valid units.
    fn look(&mut self, bench: &Bench) {
        let ftl = bench.host.device.block_manager();
        let hot = (HOT * f64::from(ftl.map().logical_units())) as u32;
        let mut newest = None;
        for (block, done) in SuperBlock::first(ftl.layout.super_blocks()).zip(ftl.programs_done()) {
            if done == 0 {
                continue;
            }
            let class = usize::from(ftl.map().logical(ftl.layout.first_unit(block)) < Lpn(hot));
            let valid = f64::from(ftl.map().valid_units(block));
            let closed = done == ftl.layout.programs_per_block;
            if closed && ftl.map().weight[block.index()] & Map::NOT_A_CANDIDATE != 0 {
                newest = newest.max(Some((valid as u32, class)));
            } else {
                self.valid[class] += valid;
                self.held[class] += f64::from(done * ftl.layout.units_per_program);
            }
        }
        if let Some((valid, class)) = newest {
            self.valid[class] += f64::from(valid);
            self.held[class] += f64::from(BLOCK);
        }
    }

    /// Utilisation at the choices of victims, of both classes.
    fn rho(&self) -> f64 {
        self.valid.iter().sum::<f64>() / self.held.iter().sum::<f64>()
    }
}

fn check(what: &str, ratio: Interval) {
    assert!(ratio.contains(1.0), "{what}: measured/expected in {ratio:?}");
    assert!(ratio.half_width() < 0.08, "{what}: {ratio:?} says too little");
}

#[test]
fn two_mixed_classes_cost_what_the_formula_of_two_classes_says() {
    let ratio = |blocks, seed| {
        let of = Classes::run(GcPolicy::Fifo, PlacementPolicy::None, blocks, seed);
        [of.total / fifo_classes(of.rho(), &hot_and_cold(HOT, 0.5)).unwrap()]
    };
    let [mixed] = limits(ratio);
    check("mixed", mixed);
}

/// Measured over expected values, in the limit of many blocks.
fn limits<const N: usize>(ratios: impl Fn(u32, u64) -> [f64; N]) -> [Interval; N] {
    let seeds: Vec<[f64; N]> = (0..12)
        .map(|seed| {
            let (large, small) = (ratios(160, 2 * seed), ratios(80, 2 * seed + 1));
            std::array::from_fn(|k| 2.0 * large[k] - small[k])
        })
        .collect();
    std::array::from_fn(|k| {
        let of: Vec<f64> = seeds.iter().map(|ratios| ratios[k]).collect();
        confidence_interval(&of, FAMILY_ERROR, COMPARISONS).unwrap()
    })
}

#[test]
fn isolated_classes_cost_what_their_own_spare_says() {
    for policy in [GcPolicy::Fifo, GcPolicy::Greedy] {
        let ratios = |blocks, seed| {
            let of = Classes::run(policy, fdp(2, &[0, 1]), blocks, seed);
            let expected = |class: usize| {
                let rho = of.valid[class] / of.held[class];
                if policy == GcPolicy::Fifo { fifo_uniform(rho) } else { greedy_uniform(rho, BLOCK) }
            };
            let class =
                |class: usize| of.counted[class].write_amplification().unwrap() / expected(class).unwrap();
            [class(0), class(1)]
        };
        let [cold, hot] = limits(ratios);
        check("cold", cold);
        check("hot", hot);
    }
}

/// A drive of four dies in two reclaim groups with two handles each.
fn grouped() -> DriveSpec {
    let mut spec = spec(4, 80, 0.05);
    spec.ftl.over_provisioning = 0.5;
    spec.ftl.placement = PlacementPolicy::Fdp(Fdp { handles: 2, persistently_isolated: vec![1], groups: 2 });
    spec
}

#[test]
fn units_stay_in_the_reclaim_group_of_their_flow() {
    let spec = grouped();
    // Quarters of the addresses, each with a group and a handle of its own.
    let flow = |class: u8| {
        let from = f64::from(class) / 4.0;
        writes(&format!("f{class}"), from, from + 0.25, AddressSpec::Uniform, Some(class))
    };
    let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[0, 1, 2, 3].map(flow), 1);
    bench.run_requests(80_000);
    bench.finish();
    let units = bench.host.device.logical_units();
    let mut seen = [0; 4];
    for lpn in Lpn::first(units) {
        let Some(handle) = bench.host.device.handle_of(lpn) else { continue };
        let group = bench.host.device.group_of(lpn).expect("it is on flash");
        let class = 2 * group + u32::from(handle);
        // The quarter that a unit is in decides; borders are rounded to units.
        let at = 4.0 * (f64::from(lpn.0) + 0.5) / f64::from(units);
        assert!((at - f64::from(class) - 0.5).abs() < 0.5 + 1e-2, "unit {lpn} of class {class}");
        seen[class as usize] += 1;
    }
    assert!(seen.iter().all(|&n| n > units / 5), "{seen:?} of {units}");
    let placement = bench.host.device.placement().unwrap();
    assert!(placement.groups.iter().all(|of| of.host_units > 20_000 && of.relocated_units > 0));
    assert!(placement.groups.iter().all(|of| of.outside_units == 0), "{placement:?}");
}

/// One flow writes the whole drive to a group of half of its dies. The group takes data until half of its spare space is left.
#[test]
fn a_full_reclaim_group_passes_data_on() {
    let spec = grouped();
    let flow = writes("f", 0.0, 1.0, AddressSpec::Uniform, Some(2));
    let mut bench = Bench::new(&spec, filled(&spec, 0.0), &[flow], 1);
    bench.run_requests(120_000);
    bench.finish();
    let drive = &bench.host.device;
    let units = drive.logical_units();
    let mut held = [0.0; 2];
    for lpn in Lpn::first(units) {
        if let Some(group) = drive.group_of(lpn) {
            held[group as usize] += 1.0;
        }
    }
    let (layout, lanes) = (drive.layout(), 4.0);
    let spare = f64::from(layout.blocks * layout.units_per_block) - f64::from(units) / lanes;
    let most = 2.0 * (f64::from(units) / lanes + spare / 2.0);
    // Lanes are counted every 32 programs of each lane of the drive, all of which may be in the group.
    let slack = 2.0 * 65.0 * f64::from(layout.units_per_program);
    assert!((held[1] - most).abs() <= slack, "{held:?}, at most {most}");
    let placement = drive.placement().unwrap();
    assert!(
        placement.groups[1].outside_units > 1_000 && placement.groups[0].outside_units == 0,
        "{placement:?}"
    );
    // They are counted when their programs begin, and in the other group when these end.
    let begun = placement.groups[1].outside_units - placement.groups[0].host_units;
    assert!(begun <= 64, "{placement:?}");
}

#[test]
fn reclaim_groups_that_the_drive_cannot_have_are_refused() {
    let refused = |change: &dyn Fn(&mut DriveSpec)| {
        let mut spec = grouped();
        assert_eq!(spec.check(), Ok(()));
        change(&mut spec);
        spec.check().unwrap_err().keys[0].to_string()
    };
    let groups = |groups| {
        move |spec: &mut DriveSpec| {
            spec.ftl.placement =
                PlacementPolicy::Fdp(Fdp { handles: 2, persistently_isolated: vec![], groups });
        }
    };
    assert_eq!(refused(&groups(3)), "ftl.reclaim-groups");
    assert_eq!(refused(&groups(8)), "ftl.reclaim-groups");
    let order = Allocation::Static([Axis::C, Axis::W, Axis::D, Axis::P]);
    assert_eq!(refused(&|spec| spec.ftl.allocation = order), "ftl.reclaim-groups");
    assert_eq!(refused(&|spec| spec.ftl.over_provisioning = 0.1), "ftl.placement");
}
